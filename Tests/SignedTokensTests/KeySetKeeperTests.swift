import LogCapture
import Logging
import PaymentCore
import Synchronization
import Testing

@testable import SignedTokens

/// Keys that change, and an issuer that cannot be reached.
@Suite struct KeySetKeeperTests {
    /// What is read next, and how often it was.
    private final class Source: Sendable {
        struct Away: Error {}
        private let state: Mutex<(set: [UInt8]?, reads: Int)>

        init(_ set: [UInt8]?) { state = Mutex((set, 0)) }

        var reads: Int { state.withLock { $0.reads } }
        func give(_ set: [UInt8]?) { state.withLock { $0.set = set } }
        func read() throws -> [UInt8] {
            let set = state.withLock { state in
                state.reads += 1
                return state.set
            }
            guard let set else { throw Away() }
            return set
        }
    }

    private let clock = StandingClock(Issuer.now)

    private func keeper(_ source: Source, _ lines: LogLines = LogLines()) -> KeySetKeeper {
        KeySetKeeper(
            trustedFor: .hours(24), clock: clock, logger: Logger(label: "test") { _ in lines.handler },
            source: { try source.read() })
    }

    private func answer(_ keeper: KeySetKeeper, _ name: String?) async -> String {
        switch await keeper.key(name) {
        case .key: "key"
        case .none: "none"
        case .unknown: "unknown"
        }
    }

    @Test func `a key that nobody knows has the set read again, and not more often than every ten seconds`() async {
        let (first, second) = (Issuer(), Issuer())
        let source = Source(first.keySet)
        let keeper = keeper(source)
        #expect(await answer(keeper, "es256") == "key" && source.reads == 1)
        source.give(Array("{\"keys\":[\(second.keys[0].replacing("es256", with: "new"))]}".utf8))
        for number in 1...50 { #expect(await answer(keeper, "invented-\(number)") == "none") }
        #expect(await answer(keeper, "new") == "none" && source.reads == 1)
        clock.pass(.seconds(10))
        #expect(await answer(keeper, "new") == "key" && source.reads == 2)
        // The only key is meant by a token that names none; what the issuer dropped is gone.
        #expect(await answer(keeper, nil) == "key")
        #expect(await answer(keeper, "es256") == "none")
    }

    @Test func `requests at one moment wait for one reading`() async {
        let source = Source(Issuer().keySet)
        let keeper = keeper(source)
        await withTaskGroup(of: String.self) { group in
            for _ in 1...20 { group.addTask { await answer(keeper, "es256") } }
            for await answer in group { #expect(answer == "key") }
        }
        #expect(source.reads == 1)
    }

    @Test func `keys that are known count for a day while their issuer is away, and it is told once`() async {
        let source = Source(Issuer().keySet)
        let lines = LogLines()
        let keeper = keeper(source, lines)
        await keeper.refresh()
        source.give(nil)
        for _ in 1...23 {
            clock.pass(.hours(1))
            await keeper.refresh()
            #expect(await answer(keeper, "es256") == "key")
        }
        #expect(lines.all.count { $0.contains("cannot be read") } == 1)
        clock.pass(.hours(1))
        #expect(await answer(keeper, "es256") == "unknown")
        source.give(Issuer().keySet)
        clock.pass(.seconds(10))
        #expect(await answer(keeper, "es256") == "key")
    }

    @Test func `without any set nobody can tell`() async {
        let source = Source(nil)
        let keeper = keeper(source)
        #expect(await answer(keeper, "es256") == "unknown")
        #expect(await answer(keeper, "es256") == "unknown" && source.reads == 1)
        #expect(await keeper.readAt == nil)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[]}"#, #"{"keys":[{"kty":"oct","kid":"a","k":"AAAA"}]}"#,
        #"{"keys":[7,null,{"kty":"EC","crv":"P-256","kid":"a","x":"AA","y":"AA"}]}"#,
    ])
    func `a set without a key that can be used takes no other's place`(_ text: String) async {
        let source = Source(Issuer().keySet)
        let keeper = keeper(source)
        await keeper.refresh()
        source.give(Array(text.utf8))
        clock.pass(.seconds(10))
        await keeper.refresh()
        #expect(await answer(keeper, "es256") == "key" && source.reads == 2)
    }

    @Test func `two keys of one name, and a set that is too large, are refused`() async {
        let keys = Issuer().keys
        await #expect(throws: KeySet.Unusable.self) {
            try await KeySet(Array("{\"keys\":[\(keys[0]),\(keys[0])]}".utf8))
        }
        let padding = String(repeating: " ", count: KeySet.maximumBytes)
        await #expect(throws: KeySet.Unusable.self) {
            try await KeySet(Array("{\"keys\":[\(keys[0])]}\(padding)".utf8))
        }
        // A private part in a public set is somebody's mistake: the key is not used.
        await #expect(throws: KeySet.Unusable.self) {
            try await KeySet(Array("{\"keys\":[\(keys[0].replacing("\"kty\"", with: "\"d\":\"AA\",\"kty\""))]}".utf8))
        }
    }
}
