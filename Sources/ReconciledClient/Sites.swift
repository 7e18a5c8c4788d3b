internal import Foundation
internal import Synchronization

/// Where the daemon is, and which of its sites answered last.
final class Sites: Sendable {
    private let urls: [URL]
    private let current = Mutex(0)

    init(_ urls: [URL]) { self.urls = urls }

    /// Where the next request goes.
    var url: URL { urls[current.withLock { $0 }] }

    /// The site at `url` does not take requests now. Nobody but the configuration names a site: the token goes there.
    func turn(from url: URL, to named: URL?) {
        current.withLock { current in
            guard urls[current] == url else { return }
            if let named, let place = urls.firstIndex(where: { $0.isTheSame(as: named) }) {
                current = place
            } else {
                current = (current + 1) % urls.count
            }
        }
    }
}

extension URL {
    /// A slash at the end makes no difference.
    fileprivate func isTheSame(as other: URL) -> Bool { withoutSlash == other.withoutSlash }

    var withoutSlash: String { absoluteString.hasSuffix("/") ? String(absoluteString.dropLast()) : absoluteString }
}
