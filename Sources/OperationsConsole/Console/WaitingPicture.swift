internal import PaymentCore

/// What waited at one provider over the last hour, as a picture: a column a minute, its colors the ages.
struct WaitingPicture {
    static let width = 360
    static let height = 60
    private static let minutes = 60

    /// The most that waited at one moment.
    let most: Int
    private let columns: [(minute: Int, byAge: [Int])]

    /// A picture of the samples of one provider, up to a moment in milliseconds.
    init(_ samples: [ConsoleHistory.Sample], of provider: String, until now: Int64) {
        var latest: [Int: [Int]] = [:]
        for sample in samples {
            let minute = WaitingPicture.minutes - 1 - Int((now - sample.at.milliseconds) / 60_000)
            guard (0..<WaitingPicture.minutes).contains(minute), let waiting = sample.waiting[provider] else {
                continue
            }
            latest[minute] = waiting.byAge
        }
        columns = latest.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        most = columns.map { $0.byAge.reduce(0, +) }.max() ?? 0
    }

    /// The rectangles: where each is, and the age that colors it.
    var rectangles: [[String: Any]] {
        let step = WaitingPicture.width / WaitingPicture.minutes
        return columns.flatMap { column -> [[String: Any]] in
            var top = WaitingPicture.height
            return column.byAge.enumerated().compactMap { age, count in
                guard count > 0 else { return nil }
                let tall = max(1, count * (WaitingPicture.height - 4) / max(1, most))
                top -= tall
                return [
                    "x": String(column.minute * step), "y": String(max(0, top)), "width": String(step - 1),
                    "height": String(tall), "age": String(age),
                ]
            }
        }
    }
}
