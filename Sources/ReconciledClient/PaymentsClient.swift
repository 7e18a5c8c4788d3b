public import Foundation

/// Makes payments with the daemon, so that each order is paid once.
///
/// Each call stores its request in the journal before it sends it, and sends it again with the same key until it is
/// settled. Whoever is killed asks again with the same order, or calls ``resume(within:)``.
///
/// ```swift
/// let client = PaymentsClient(sites: [url], token: token, journal: try DirectoryJournal(directory))
/// let payment = try await client.pay(NewPayment(amount: amount, legs: [leg]), order: "order-731")
/// ```
public struct PaymentsClient: Sendable {
    let sites: Sites
    let token: @Sendable () async throws -> String
    let journal: any OperationJournal
    let transport: any ClientTransport
    let settings: ClientSettings
    let clock: any Clock<Duration>

    /// - Parameters:
    ///   - sites: where the daemon is, such as `https://payments.example`. With two sites name both: the client goes to
    ///     the one that is active. At least one.
    ///   - token: the caller's token, asked for before each request, so that it can be renewed.
    ///   - journal: where operations are kept before they are sent.
    ///   - transport: what sends a request.
    ///   - settings: how patient the client is.
    ///   - clock: what it waits by. Tests give one that skips.
    public init(
        sites: [URL], token: @escaping @Sendable () async throws -> String, journal: any OperationJournal,
        transport: any ClientTransport = URLSessionTransport(), settings: ClientSettings = ClientSettings(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        precondition(!sites.isEmpty, "a client needs at least one site")
        self.sites = Sites(sites)
        self.token = token
        self.journal = journal
        self.transport = transport
        self.settings = settings
        self.clock = clock
    }

    /// Pays an order, and returns the payment once it is final, or `authorized` with `capture: .manual`, or once its
    /// payer has to act (`requires_action`): then show ``Payment/nextAction``, and pay the same order again when the
    /// payer is back.
    ///
    /// Look at `state`: a declined payment is `failed`, and no error. The order's name is the payment's `reference`.
    ///
    /// - Parameters:
    ///   - payment: what is asked for.
    ///   - order: the order's name, from which the key is derived.
    ///   - attempt: 1 for the first. Take the next number only after the payment `failed` or was `canceled`. While the
    ///     journal has the one before as unfinished, nothing is sent.
    ///   - within: how long to wait. After that it throws ``ClientError/unsettled(_:last:because:)``.
    public func pay(
        _ payment: NewPayment, order: String, attempt: Int = 1, within: Duration = .seconds(60)
    ) async throws -> Payment {
        var asked = payment
        asked.reference = order
        if attempt > 1 { try await expectFinished(.create(order: order, attempt: attempt - 1)) }
        let operation = try operation(.create(order: order, attempt: attempt), "/v1/payments", asked)
        let begun = try await journal.begin(operation)
        guard let kept = try? Self.decoder.decode(NewPayment.self, from: Data(begun.kept.body.utf8)),
            begun.kept.path == operation.path, kept.asksForTheSame(as: asked)
        else { throw ClientError.differs(operation.key) }
        return try await settle(begun, within, as: kept)
    }

    /// Takes what an `authorized` payment holds, and returns the payment once it is final.
    public func capture(
        _ payment: String, order: String, attempt: Int = 1, within: Duration = .seconds(60)
    ) async throws -> Payment {
        try await change(payment, .capture(order: order, attempt: attempt), "capture", [String: String](), within)
    }

    /// Gives a payment up, and returns it once it is final. If it went forward before, the daemon refuses with
    /// `/problems/too-late`.
    public func cancel(
        _ payment: String, order: String, attempt: Int = 1, reason: String? = nil, within: Duration = .seconds(60)
    ) async throws -> Payment {
        let body = reason.map { ["reason": $0] } ?? [:]
        return try await change(payment, .cancel(order: order, attempt: attempt), "cancel", body, within)
    }

    /// Gives money back, and returns the refund once it is final.
    ///
    /// - Parameters:
    ///   - payment: the payment's identifier.
    ///   - order: the order's name, from which the key is derived.
    ///   - number: of this refund among those of the order, from 1.
    ///   - amount: all that is left, if none is named.
    ///   - reason: why, in the shop's words.
    ///   - within: how long to wait. After that it throws ``ClientError/unsettled(_:last:because:)``.
    public func refund(
        _ payment: String, order: String, number: Int, amount: Money? = nil, reason: String? = nil,
        within: Duration = .seconds(60)
    ) async throws -> Refund {
        let body = NewRefund(amount: amount, reason: reason)
        let operation = try operation(
            .refund(order: order, number: number), Self.path(of: payment) + "/refunds", body)
        let begun = try await journal.begin(operation)
        guard begun.kept.isTheSame(as: operation) else { throw ClientError.differs(operation.key) }
        return try await settle(begun, within)
    }

    /// The payment as it is now.
    public func payment(_ id: String) async throws -> Payment {
        try await read(Self.path(of: id))
    }

    /// The newest payments of an order, up to 200.
    public func payments(order: String) async throws -> [Payment] {
        var query = URLComponents()
        query.queryItems = [URLQueryItem(name: "reference", value: order), URLQueryItem(name: "limit", value: "200")]
        let page: Page = try await read("/v1/payments?\(query.percentEncodedQuery ?? "")")
        return page.data
    }

    /// What came of an operation that was resumed.
    public enum Settled: Sendable, Hashable {
        /// Of a create, a capture or a cancel.
        case payment(Payment)
        case refund(Refund)
    }

    /// Sends again what was begun and not finished, one after the other. Call it when a process starts, and from time
    /// to time. Each has so long.
    public func resume(
        within: Duration = .seconds(60)
    ) async throws -> [(operation: StoredOperation, result: Result<Settled, any Error>)] {
        var results: [(operation: StoredOperation, result: Result<Settled, any Error>)] = []
        for operation in try await journal.unfinished() {
            try Task.checkCancellation()
            do {
                results.append((operation, .success(try await resume(operation, within))))
            } catch let error as CancellationError {
                throw error
            } catch {
                results.append((operation, .failure(error)))
            }
        }
        return results
    }

    private func resume(_ operation: StoredOperation, _ within: Duration) async throws -> Settled {
        let begun = (kept: operation, isNew: false)
        if operation.path.hasSuffix("/refunds") { return .refund(try await settle(begun, within)) }
        guard operation.path == "/v1/payments" else { return .payment(try await settle(begun, within)) }
        let asked = try Self.decoder.decode(NewPayment.self, from: Data(operation.body.utf8))
        return .payment(try await settle(begun, within, as: asked))
    }

    private func change(
        _ payment: String, _ key: OperationKey, _ verb: String, _ body: some Encodable, _ within: Duration
    ) async throws -> Payment {
        let operation = try operation(key, Self.path(of: payment) + "/" + verb, body)
        let begun = try await journal.begin(operation)
        guard begun.kept.isTheSame(as: operation) else { throw ClientError.differs(key) }
        return try await settle(begun, within)
    }

    /// Two attempts at a time could both be paid.
    private func expectFinished(_ key: OperationKey) async throws {
        guard try await journal.unfinished().contains(where: { $0.key == key }) else { return }
        throw ClientError.unsettled(key, last: nil, because: "the next attempt has to wait for it")
    }

    /// An identifier may come from whoever shops: it names a payment, and no other place.
    static func path(of payment: String) throws -> String {
        let digits = payment.dropFirst(4).utf8
        let isHex = digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        guard payment.hasPrefix("pay_"), digits.count == 40, isHex else { throw ClientError.invalidPayment(payment) }
        return "/v1/payments/" + payment
    }

    private func operation(
        _ key: OperationKey, _ path: String, _ body: some Encodable
    ) throws -> StoredOperation {
        let text = String(decoding: try Self.encoder.encode(body), as: UTF8.self)
        return StoredOperation(key: key, path: path, body: text, begunAt: Date())
    }

    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }
}

private struct NewRefund: Encodable {
    let amount: Money?
    let reason: String?
}

private struct Page: Decodable {
    let data: [Payment]
}

extension StoredOperation {
    fileprivate func isTheSame(as other: StoredOperation) -> Bool { path == other.path && body == other.body }
}

extension Payment {
    /// Whether it can be what the daemon made of this request.
    func isAnswer(to asked: NewPayment) -> Bool {
        amount == asked.amount && reference == asked.reference
    }
}
