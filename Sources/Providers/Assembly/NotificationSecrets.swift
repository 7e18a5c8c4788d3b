internal import PaymentCore
internal import Synchronization

/// The secrets with which a provider signs its notifications: two while one is being replaced. They never describe
/// themselves.
public final class NotificationSecrets: Sendable, CustomStringConvertible {
    /// How far the moment of a notification may be from ours: ahead in any case, as the provider's clock may run ahead,
    /// and behind where the moment is signed, so that nothing is replayed later.
    static let tolerance = Span.minutes(5)

    private let secrets: Mutex<[String]>

    /// Takes the secrets; none takes no notification.
    public init(_ secrets: [String]) { self.secrets = Mutex(secrets) }

    /// The secrets of now.
    var current: [String] { secrets.withLock { $0 } }

    /// Puts others in their place, for the next notification.
    public func replace(with secrets: [String]) { self.secrets.withLock { $0 = secrets } }

    /// Always the same text.
    public var description: String { "NotificationSecrets(redacted)" }
}
