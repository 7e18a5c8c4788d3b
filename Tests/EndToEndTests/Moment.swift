import Foundation

/// When a mishap happens to a site. Of itself at once; with `RECONCILED_RANDOM_MOMENTS` at any moment of the next
/// second and a half, so that a story that is told often is told of many moments.
enum Moment {
    private static let isDrawn = ProcessInfo.processInfo.environment["RECONCILED_RANDOM_MOMENTS"] != nil

    /// Comes back at the moment.
    static func come() async throws {
        guard isDrawn else { return }
        let moment = ContinuousClock.now + .milliseconds(Int.random(in: 0...1_500))
        try await Polling.until("the moment has come") { ContinuousClock.now >= moment }
    }
}
