/// Sums of amounts that others chose: as near as can be, because the simulator must not end by one.
extension Int64 {
    /// The sum, or the largest or smallest number where it does not fit.
    func addedAsFarAsPossible(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other > 0 ? .max : .min
    }

    /// The difference, or the largest or smallest number where it does not fit.
    func lessAsFarAsPossible(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        guard overflow else { return difference }
        return other > 0 ? .min : .max
    }
}

extension Sequence where Element == Int64 {
    /// The sum, or the largest number where it does not fit.
    var sumAsFarAsPossible: Int64 { reduce(0) { $0.addedAsFarAsPossible($1) } }
}
