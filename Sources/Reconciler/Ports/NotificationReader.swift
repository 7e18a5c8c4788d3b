public import PaymentCore

/// Reads a provider's signed notifications (webhooks), behind its adapter.
///
/// A notification is no evidence where the status can be read: it may be late, doubled or out of order. It says which
/// payment to ask about, and nothing else of it is used. Where the status cannot be read its word about one effect
/// counts (``EffectNews``); that none came says nothing.
public protocol NotificationReader: Sendable {
    /// Checks the signature and reads whom it is about.
    ///
    /// - Parameter now: our time, for the tolerance of its signed moment.
    /// - Throws: why it is not believed. Nothing is done then.
    func read(_ notification: SignedNotification, at now: Timestamp) throws(NotificationRefusal) -> ProviderNotification
}

/// A notification as it came, of which nothing is believed yet.
public struct SignedNotification: Sendable {
    /// The values of each header that has a name, in their order.
    public let header: @Sendable (_ name: String) -> [String]
    /// The body, byte for byte: the signature is over it.
    public let body: [UInt8]

    /// A notification.
    public init(body: [UInt8], header: @escaping @Sendable (_ name: String) -> [String]) {
        self.body = body
        self.header = header
    }
}

/// What a notification says once its signature is right.
public struct ProviderNotification: Sendable, Hashable {
    /// The provider's name of it, which is the same each time that it is delivered.
    public let id: String
    /// The payment that it is about, as we named it in the metadata; `nil` where it is not named.
    public let payment: PaymentID?
    /// The key of an effect that it is about; `nil` where none is named.
    public let key: EffectKey?
    /// What it says of an effect, where its provider cannot be asked; `nil` where the status is read.
    public let news: EffectNews?

    /// A notification about a payment, about an effect, or about something else.
    public init(id: String, payment: PaymentID? = nil, key: EffectKey? = nil, news: EffectNews? = nil) {
        self.id = id
        self.payment = payment
        self.key = key
        self.news = news
    }
}

/// Why a notification is not believed.
public enum NotificationRefusal: String, Error, Sendable, Hashable, CaseIterable {
    /// It has no signature that can be read.
    case unsigned
    /// No secret of ours makes its signature.
    case wrongSignature = "wrong_signature"
    /// It was signed too long ago, or in the future.
    case outOfTime = "out_of_time"
    /// Its signature is right, and its body is not what the provider documents.
    case malformed
}
