import VirtualTime

extension VirtualClock {
    /// A clock that shows the beginning of every story here.
    convenience init() { self.init(at: RunnerStage.start) }
}
