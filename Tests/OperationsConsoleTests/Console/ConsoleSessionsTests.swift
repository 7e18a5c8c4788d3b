import PaymentCore
import Testing

@testable import OperationsConsole

/// How long somebody is signed in.
@Suite struct ConsoleSessionsTests {
    private let token = ConsoleStage.tokens["hana"] ?? ""
    private let start = ContinuousClock.now

    @Test func `a session ends half an hour after its last use, and eight hours after its beginning`() throws {
        let sessions = ConsoleSessions(try ConsoleStage.directory())
        let idle = try #require(sessions.begin(token: token, now: start))
        #expect(sessions.session(idle, now: start + .seconds(1_799))?.person.name == "hana")
        #expect(sessions.session(idle, now: start + .seconds(1_799 + 1_800)) == nil)
        #expect(sessions.session(idle, now: start + .seconds(1_800)) == nil, "it came back")

        let used = try #require(sessions.begin(token: token, now: start))
        for second in stride(from: 1_000, to: 28_800, by: 1_000) {
            #expect(sessions.session(used, now: start + .seconds(second)) != nil)
        }
        #expect(sessions.session(used, now: start + .seconds(28_800)) == nil)
    }

    @Test func `there are only so many, and the one that was not used for the longest makes room`() throws {
        var limits = ConsoleSessions.Limits()
        limits.count = 3
        let sessions = ConsoleSessions(try ConsoleStage.directory(), limits: limits)
        let all = try (0..<3).map { second in
            try #require(sessions.begin(token: token, now: start + .seconds(second)))
        }
        #expect(sessions.session(all[0], now: start + .seconds(10)) != nil)
        let new = try #require(sessions.begin(token: token, now: start + .seconds(11)))
        #expect(sessions.session(all[1], now: start + .seconds(12)) == nil)
        for kept in [all[0], all[2], new] { #expect(sessions.session(kept, now: start + .seconds(12)) != nil) }
    }

    @Test func `one person's sessions do not end those of others`() throws {
        let sessions = ConsoleSessions(try ConsoleStage.directory())
        let ken = try #require(sessions.begin(token: ConsoleStage.tokens["ken"] ?? "", now: start))
        let all = try (1...300).map { second in
            try #require(sessions.begin(token: token, now: start + .seconds(second)))
        }
        #expect(sessions.session(ken, now: start + .seconds(301))?.person.name == "ken")
        #expect(
            all.suffix(9).map { sessions.session($0, now: start + .seconds(301)) != nil } == [false]
                + Array(repeating: true, count: 8))
    }

    @Test func `a page that looks at itself again keeps nobody signed in`() throws {
        let sessions = ConsoleSessions(try ConsoleStage.directory())
        let session = try #require(sessions.begin(token: token, now: start))
        for second in stride(from: 15, to: 1_800, by: 15) {
            #expect(sessions.session(session, isUse: false, now: start + .seconds(second)) != nil)
        }
        #expect(sessions.session(session, isUse: false, now: start + .seconds(1_800)) == nil)
    }

    @Test func `no two sessions and no two form tokens are the same, and none tells the operator's token`() throws {
        let sessions = ConsoleSessions(try ConsoleStage.directory())
        var seen: Set<String> = []
        for _ in 0..<50 {
            let session = try #require(sessions.begin(token: token))
            let found = try #require(sessions.session(session))
            for secret in [session, found.formToken] {
                #expect(secret.utf8.count == 43 && seen.insert(secret).inserted && !secret.contains(token))
            }
            #expect(found.made(found.formToken) && !found.made(nil) && !found.made("") && !found.made(session))
        }
    }

    @Test func `nobody's token begins nothing`() throws {
        let sessions = ConsoleSessions(try ConsoleStage.directory())
        #expect(sessions.begin(token: "nobody's") == nil && sessions.session("anything") == nil)
    }
}
