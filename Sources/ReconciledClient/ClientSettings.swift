/// How patient a client is.
public struct ClientSettings: Sendable, Hashable {
    /// How long the daemon may wait for the settled answer (`Prefer: wait`), in whole seconds up to 30.
    public var wait: Duration = .seconds(10)
    /// How long an answer may take beyond that.
    public var slack: Duration = .seconds(10)
    /// The pause after the first request. Each one after that is twice as long, up to ``longestPause``. `Retry-After`
    /// makes a pause longer and never shorter.
    public var firstPause: Duration = .milliseconds(250)
    /// The longest pause of its own.
    public var longestPause: Duration = .seconds(5)

    /// As patient as suits a checkout.
    public init() {}

    /// - Parameter chance: from 0 to 1, so that clients do not all come back at once.
    func pause(_ number: Int, named: Duration?, chance: Double) -> Duration {
        let doubled = firstPause * (1 << min(number, 16))
        return max(min(doubled, longestPause) * (0.8 + 0.4 * chance), named ?? .zero)
    }
}
