import LogCapture
import Logging
import PaymentCore
import Synchronization
import Testing
import VirtualTime

@testable import SignedTokens

/// Keys that change, and an issuer that cannot be reached.
@Suite(.timeLimit(.minutes(2))) struct KeySetKeeperTests {
    /// What is read next, and how often it was.
    private final class Source: Sendable {
        struct Away: Error {}
        private struct State {
            var set: [UInt8]?
            var reads = 0
            var isHeld = false
            var held: [CheckedContinuation<Void, Never>] = []
        }
        private let state: Mutex<State>

        init(_ set: [UInt8]?) { state = Mutex(State(set: set)) }

        var reads: Int { state.withLock { $0.reads } }
        func give(_ set: [UInt8]?) { state.withLock { $0.set = set } }
        /// Whoever reads waits from now on.
        func hold() { state.withLock { $0.isHeld = true } }
        func letGo() {
            let held = state.withLock { state in
                state.isHeld = false
                defer { state.held = [] }
                return state.held
            }
            for reader in held { reader.resume() }
        }
        func read() async throws -> [UInt8] {
            await withCheckedContinuation { reader in
                let goesOn = state.withLock { state in
                    state.reads += 1
                    if state.isHeld { state.held.append(reader) }
                    return !state.isHeld
                }
                if goesOn { reader.resume() }
            }
            guard let set = state.withLock({ $0.set }) else { throw Away() }
            return set
        }
    }

    private let clock = VirtualClock(at: Issuer.now)
    private let lines = LogLines()

    /// Runs a keeper of a source beside a body.
    private func run(_ source: Source, _ body: (KeySetKeeper) async -> Void) async {
        let keeper = KeySetKeeper(
            trustedFor: .hours(24), clock: clock, logger: Logger(label: "test") { _ in lines.handler },
            source: { try await source.read() })
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await keeper.run() }
            await body(keeper)
            group.cancelAll()
        }
    }

    private func answer(_ keeper: KeySetKeeper, _ name: String?) async -> String {
        switch await keeper.key(name) {
        case .key: "key"
        case .none: "none"
        case .unknown: "unknown"
        }
    }

    /// Lets others go on until it is so; the suite's limit ends what never is.
    private func until(_ isSo: () async -> Bool) async {
        while await !isSo() { await Task.yield() }
    }

    @Test func `a key that nobody knows has the set read again, and not more often than every ten seconds`() async {
        let (first, second) = (Issuer(), Issuer())
        let source = Source(first.keySet)
        await run(source) { keeper in
            #expect(await answer(keeper, "es256") == "key" && source.reads == 1)
            source.give(Array("{\"keys\":[\(second.keys[0].replacing("es256", with: "new"))]}".utf8))
            for number in 1...50 { #expect(await answer(keeper, "invented-\(number)") == "none") }
            #expect(await answer(keeper, "new") == "none" && source.reads == 1)
            clock.advance(by: .seconds(10))
            #expect(await answer(keeper, "new") == "key" && source.reads == 2)
            // The only key is meant by a token that names none; what the issuer dropped is gone.
            #expect(await answer(keeper, nil) == "key")
            #expect(await answer(keeper, "es256") == "none")
        }
    }

    @Test func `requests at one moment wait for one reading`() async {
        let source = Source(Issuer().keySet)
        await run(source) { keeper in
            await withTaskGroup(of: String.self) { group in
                for _ in 1...20 { group.addTask { await answer(keeper, "es256") } }
                for await answer in group { #expect(answer == "key") }
            }
            #expect(source.reads == 1)
        }
    }

    @Test func `who comes with invented keys while the issuer is slow waits in small numbers, and hinders nobody`()
        async
    {
        let source = Source(Issuer().keySet)
        await run(source) { keeper in
            #expect(await answer(keeper, "es256") == "key")
            source.hold()
            clock.advance(by: .seconds(10))
            await withTaskGroup(of: String.self) { group in
                for number in 1...100 { group.addTask { await answer(keeper, "invented-\(number)") } }
                var answers: [String: Int] = [:]
                for _ in 1...(100 - KeySetKeeper.mostWaiting) { answers[await group.next() ?? "", default: 0] += 1 }
                #expect(answers == ["unknown": 100 - KeySetKeeper.mostWaiting])
                #expect(await keeper.waitingCount == KeySetKeeper.mostWaiting)
                #expect(await answer(keeper, "es256") == "key")
                source.letGo()
                for await answer in group { #expect(answer == "none") }
            }
            #expect(source.reads == 2)
        }
    }

    @Test func `keys that are known count for a day while their issuer is away, and it is told once`() async {
        let source = Source(Issuer().keySet)
        await run(source) { keeper in
            #expect(await answer(keeper, "es256") == "key")
            source.give(nil)
            for hour in 1...23 {
                // The next reading is due five minutes after the last one.
                await until { !clock.sleeping.isEmpty }
                clock.advance(by: .hours(1))
                await until { source.reads > hour }
                #expect(await answer(keeper, "es256") == "key")
            }
            await until { lines.all.contains { $0.contains("cannot be read") } }
            clock.advance(by: .hours(1))
            #expect(await answer(keeper, "es256") == "unknown")
            #expect(lines.all.count { $0.contains("cannot be read") } == 1)
            source.give(Issuer().keySet)
            await until { !clock.sleeping.isEmpty }
            clock.advance(by: .seconds(10))
            #expect(await answer(keeper, "es256") == "key")
        }
    }

    @Test func `that the keys are known is told at the start, and again only after they could not be read`() async {
        let source = Source(Issuer().keySet)
        func told() -> Int { lines.all.count { $0.contains("tokens are known") } }
        await run(source) { keeper in
            #expect(await answer(keeper, "es256") == "key")
            #expect(told() == 1)
            for (set, reads) in [(Issuer().keySet, 2), (nil, 3), (Issuer().keySet, 4)] {
                source.give(set)
                clock.advance(by: .seconds(10))
                #expect(await answer(keeper, "nobody") == "none")
                #expect(source.reads == reads)
            }
            #expect(told() == 2)
        }
    }

    /// A daemon that stops answers what it has accepted: with what is known, and without waiting for another reading.
    @Test func `at the end whoever waits is let go, and nobody waits any more`() async {
        let source = Source(Issuer().keySet)
        let keeper = KeySetKeeper(
            trustedFor: .hours(24), clock: clock, logger: Logger(label: "test") { _ in lines.handler },
            source: { try await source.read() })
        let run = Task { await keeper.run() }
        #expect(await answer(keeper, "es256") == "key")
        await until { !clock.sleeping.isEmpty }
        run.cancel()
        await run.value
        clock.advance(by: .seconds(10))
        #expect(await answer(keeper, "nobody") == "none")
        #expect(await answer(keeper, "es256") == "key")
        #expect(source.reads == 1)
    }

    @Test func `without any set nobody can tell, and it is read every ten seconds until there is one`() async {
        let source = Source(nil)
        await run(source) { keeper in
            #expect(await answer(keeper, "es256") == "unknown")
            #expect(await answer(keeper, "es256") == "unknown" && source.reads == 1)
            source.give(Issuer().keySet)
            await until { !clock.sleeping.isEmpty }
            clock.advance(by: .seconds(10))
            await until { source.reads == 2 }
            #expect(await answer(keeper, "es256") == "key")
        }
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[]}"#, #"{"keys":[{"kty":"oct","kid":"a","k":"AAAA"}]}"#,
        #"{"keys":[7,null,{"kty":"EC","crv":"P-256","kid":"a","x":"AA","y":"AA"}]}"#,
    ])
    func `a set without a key that can be used takes no other's place`(_ text: String) async {
        let source = Source(Issuer().keySet)
        await run(source) { keeper in
            #expect(await answer(keeper, "es256") == "key")
            source.give(Array(text.utf8))
            clock.advance(by: .seconds(10))
            #expect(await answer(keeper, "nobody") == "none" && source.reads == 2)
            #expect(await answer(keeper, "es256") == "key")
        }
    }

    @Test func `two keys of one name, and a set that is too large, are refused`() async {
        let keys = Issuer().keys
        await #expect(throws: KeySet.Unusable.self) {
            try await KeySet(Array("{\"keys\":[\(keys[0]),\(keys[0])]}".utf8))
        }
        let whole = Array("{\"keys\":[\(keys[0])]}".utf8)
        let room = [UInt8](repeating: UInt8(ascii: " "), count: KeySetKeeper.largestSet - whole.count)
        await #expect(throws: Never.self) { try await KeySet(whole + room) }
        await #expect(throws: KeySet.Unusable.self) { try await KeySet(whole + room + [UInt8(ascii: " ")]) }
        // A private part in a public set is somebody's mistake: the key is not used.
        await #expect(throws: KeySet.Unusable.self) {
            try await KeySet(Array("{\"keys\":[\(keys[0].replacing("\"kty\"", with: "\"d\":\"AA\",\"kty\""))]}".utf8))
        }
    }
}
