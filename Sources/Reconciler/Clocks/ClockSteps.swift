public import PaymentCore

/// Notices that the machine's clock was set while the process runs: the wall clock and a steady one must advance alike.
///
/// Deadlines, ages of keys and the moments from which reads count are told by the wall clock.
public struct ClockSteps: Sendable {
    /// What both clocks showed at one moment.
    public struct Sample: Sendable, Hashable {
        /// The wall clock.
        public var wall: Timestamp
        /// The steady clock, which goes on while the machine sleeps.
        public var steady: SteadyMoment

        /// A sample.
        public init(wall: Timestamp, steady: SteadyMoment) {
            self.wall = wall
            self.steady = steady
        }
    }

    /// By how much the clocks may part between two samples: a clock that is being corrected is slewed by less.
    public static let allowed = Span.seconds(2)

    private var last: Sample?

    /// Nothing was seen yet.
    public init() {}

    /// Takes a sample in; says by how much the clock was set since the last one, ahead if positive, `nil` if not.
    public mutating func note(_ sample: Sample) -> Span? {
        defer { last = sample }
        guard let last else { return nil }
        let parted = (sample.wall - last.wall).milliseconds - (sample.steady - last.steady).milliseconds
        return abs(parted) > ClockSteps.allowed.milliseconds ? .milliseconds(parted) : nil
    }
}
