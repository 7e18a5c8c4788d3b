public import PaymentCore
internal import Synchronization

/// Takes providers' notifications. Each is a nudge to inquire about a payment that is not settled; where the provider
/// cannot be asked, it is evidence about one effect.
public final class ProviderNotifications: Sendable {
    /// What came of a notification.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// The payment is asked about now.
        case inquired
        /// What it says of an effect is in the payment's row.
        case noted
        /// It had come before.
        case repeated
        /// It is about nothing of ours that waits.
        case unconcerned
    }

    /// How many identifiers are remembered. One that is forgotten costs an inquiry if it comes again.
    static let remembered = 10_000

    private struct Memory {
        var known: Set<String> = []
        /// In the order in which they came; the oldest is overwritten.
        var ring: [String] = []
        var next = 0
    }

    private let readers: [ProviderName: any NotificationReader]
    private let store: any PaymentStore
    private let operations: any PaymentOperations
    private let clock: any WallClock
    private let memory = Mutex(Memory())

    /// - Parameters:
    ///   - readers: Of each provider that is configured with a secret.
    ///   - operations: The use cases, by which a payment is asked about as if its caller had asked.
    public init(
        readers: [ProviderName: any NotificationReader], store: any PaymentStore, operations: any PaymentOperations,
        clock: any WallClock
    ) {
        self.readers = readers
        self.store = store
        self.operations = operations
        self.clock = clock
    }

    /// The providers whose notifications are taken.
    public var providers: Set<ProviderName> { Set(readers.keys) }

    /// Whether notifications of a provider are taken.
    public func accepts(_ provider: ProviderName) -> Bool { readers[provider] != nil }

    /// Takes a notification. It returns once the nudge is durable, and does not wait for the provider.
    ///
    /// - Throws: ``NotificationFailure``. The provider delivers it again then, and it counts as new.
    public func receive(
        _ notification: SignedNotification, from provider: ProviderName
    ) async throws(NotificationFailure) -> Outcome {
        guard let reader = readers[provider] else { throw .notAccepted }
        let read: ProviderNotification
        do {
            read = try reader.read(notification, at: clock.now())
        } catch {
            throw .refused(error)
        }
        // What it says is in the payment's row once it was taken; there it is known again. Here it might be remembered
        // by a process that lost its site before the row reached the other one.
        if let news = read.news { return try await take(news, of: read.payment, provider) }
        let name = "\(provider.name) \(read.id)"
        guard !memory.withLock({ $0.known.contains(name) }) else { return .repeated }
        let outcome = try await nudge(read, provider)
        remember(name)
        return outcome
    }

    private func nudge(
        _ notification: ProviderNotification, _ provider: ProviderName
    ) async throws(NotificationFailure) -> Outcome {
        let found: Payment?
        do {
            found = try await payment(of: notification, provider)
        } catch {
            throw .operation(.store(error))
        }
        // Another store at the same account, or another provider's payment: nothing of it is ours to ask about here.
        guard let payment = found, payment.legs.contains(where: { $0.provider == provider }),
            payment.awaitsProvider
        else { return .unconcerned }
        do {
            _ = try await operations.reconcile(caller: payment.caller, payment: payment.id, wait: .zero)
        } catch {
            throw .operation(error)
        }
        return .inquired
    }

    /// What it says is durable before the provider is told that it arrived: nobody would say it again.
    private func take(
        _ news: EffectNews, of payment: PaymentID?, _ provider: ProviderName
    ) async throws(NotificationFailure) -> Outcome {
        do {
            return try await operations.take(news, from: provider, of: payment) ? .noted : .unconcerned
        } catch {
            throw .operation(error)
        }
    }

    private func payment(
        of notification: ProviderNotification, _ provider: ProviderName
    ) async throws(StoreFailure) -> Payment? {
        if let id = notification.payment { return try await store.payment(id) }
        guard let key = notification.key,
            let id = try await store.payment(at: provider, effect: key)
        else { return nil }
        return try await store.payment(id)
    }

    private func remember(_ name: String) {
        memory.withLock { memory in
            guard memory.known.insert(name).inserted else { return }
            guard memory.ring.count == Self.remembered else {
                memory.ring.append(name)
                return
            }
            memory.known.remove(memory.ring[memory.next])
            memory.ring[memory.next] = name
            memory.next = (memory.next + 1) % Self.remembered
        }
    }
}

/// Why a notification was not taken.
public enum NotificationFailure: Error, Sendable, Hashable {
    /// No notifications of this provider are taken: it has no secret here.
    case notAccepted
    /// It is not believed.
    case refused(NotificationRefusal)
    /// It could not be acted on now.
    case operation(OperationFailure)
}
