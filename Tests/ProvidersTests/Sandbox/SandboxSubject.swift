import Foundation
import HTTPTransport
import PaymentCore
import Reconciler
import Testing

@testable import Providers

/// An adapter before its provider's sandbox, on a way that does wrong what a network may.
struct SandboxSubject: ContractSubject {
    let main: any PaymentProvider
    let onePhase: any PaymentProvider
    let impatient: any PaymentProvider
    let stranger: any PaymentProvider
    let unreachable: any PaymentProvider
    let traits: Set<SuiteTrait>
    private let sandbox: Sandbox
    private let path: SandboxPath
    private let reader: SandboxReader
    /// Of this case alone: a sandbox remembers the keys of every earlier run.
    private let caller: String

    var withoutTombstones: any PaymentProvider { main }

    private init(_ sandbox: Sandbox, sender: CurlSender) throws {
        let wire = sandbox.kind.wire
        let path = SandboxPath(sandbox.kind.operations, words: sandbox.kind.words, to: sender)
        func adapter(
            _ contract: ProviderContract? = nil, token: String? = nil, firstByte: Duration = .seconds(30),
            at url: String? = nil
        ) throws -> any PaymentProvider {
            try wire.provider(
                "card", contract ?? wire.twoPhase, token: token ?? sandbox.token, firstByte: firstByte,
                clock: DeviceClock(), at: url ?? sandbox.url, sender: path)
        }
        self.sandbox = sandbox
        self.path = path
        traits = sandbox.kind.traits
        caller = "sandbox-" + (0..<4).map { _ in String(UInt16.random(in: .min ... .max), radix: 16) }.joined()
        main = try adapter()
        onePhase = try adapter(wire.onePhase)
        impatient = try adapter(firstByte: .milliseconds(200))
        stranger = try adapter(token: wire.tokens.bad)
        unreachable = try adapter(at: "https://127.0.0.1:1")
        let tokens = ReplaceableToken(BearerToken(sandbox.token))
        reader = SandboxReader(
            sender: MiddlewareStack([wire.adapter.authorization(tokens, DeviceClock())], sender: sender),
            url: sandbox.url)
    }

    /// Runs one case.
    static func run(_ sandbox: Sandbox, _ body: (SandboxSubject) async throws -> Void) async throws {
        let isPlain = sandbox.url.hasPrefix("http://")
        let sender = CurlSender(configuration: CurlConfiguration(http2: !isPlain, allowPlainHTTP: isPlain))
        let subject = try SandboxSubject(sandbox, sender: sender)
        let result: Swift.Result<Void, any Error>
        do {
            result = .success(try await body(subject))
        } catch {
            result = .failure(error)
        }
        await sender.shutdown(grace: .seconds(1))
        try result.get()
        #expect(subject.path.unplayed.isEmpty, "no request of this kind was sent: see SandboxKind.operations")
    }

    var book: OrderBook {
        var book = OrderBook(primary: holds || !sandbox.kind.canBeAsked ? .authorize : .sale)
        book.caller = caller
        book.instrument = sandbox.instrument
        book.currency = sandbox.currency
        book.now = DeviceClock().now()
        return book
    }

    func suffer(_ fault: SuiteFault, on operation: SuiteOperation) { path.suffer(fault, on: operation) }

    func books(of key: EffectKey) async throws -> SuiteBooks { try await sandbox.kind.books(reader, key) }

    func instrument(_ behaviour: SuiteInstrument) -> String {
        switch behaviour {
        case .declined: sandbox.declined ?? sandbox.instrument
        case .unknown: sandbox.kind.unknown
        case .captureDeclined, .refundDeclined: sandbox.instrument
        }
    }
}

/// The time of this machine, which a sandbox compares with its own.
struct DeviceClock: WallClock {
    func now() -> Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }
    func sleep(until moment: Timestamp) async throws { throw CancellationError() }
}
