import PaymentCore
import Testing

/// What the machine of a run does with the page after the one in work.
@Suite struct ComparisonAheadTests {
    private static let now = Compared.start + .hours(2)

    private static func machine() throws -> ComparisonMachine {
        var settings = ComparisonSettings()
        settings.pageSize = 2
        return ComparisonMachine(run: try Compared.run(), contract: .reference, settings: settings)
    }

    private static func page(_ names: [String], next: String?) throws -> ListedPage {
        ListedPage(positions: try names.map { try Compared.theirs($0, .captured, names: $0) }, next: next)
    }

    /// What the books know of them, which agrees.
    private static func known(_ names: [String]) throws -> [KnownPosition] {
        try names.map { KnownPosition(key: EffectKey(reported: $0), ours: try Compared.ours($0, .taken), row: nil) }
    }

    /// The machine at its first page, which is looked up and waits for its step to be written; the next is asked for.
    private static func atFirstPage() throws -> (machine: ComparisonMachine, step: ComparisonStep) {
        var machine = try machine()
        #expect(machine.handle(.claimed, at: now) == [.readStanding])
        guard case .record(let opening) = try #require(machine.handle(.standing(NetSums()), at: now).first) else {
            throw Unexpected()
        }
        #expect(
            machine.handle(.recorded(.recorded(version: opening.run.version + 1)), at: now) == [
                .readPage(cursor: nil, limit: 2)
            ])
        let opened = machine.handle(.page(try page(["a", "b"], next: "2")), at: now)
        #expect(keys(lookedUp: opened) == ["a", "b"])
        #expect(opened.contains(.readPage(cursor: "2", limit: 2)))
        guard case .record(let step) = try #require(machine.handle(.known(try known(["a", "b"])), at: now).last) else {
            throw Unexpected()
        }
        return (machine, step)
    }

    private struct Unexpected: Error {}

    private static func keys(lookedUp orders: [ComparisonOrder]) -> [String] {
        for case .lookUp(let questions, _) in orders { return questions.map(\.key.text) }
        return []
    }

    private static func stored(_ step: ComparisonStep) -> ComparisonEvent {
        .recorded(.recorded(version: step.run.version + 1))
    }

    @Test func `the next page is looked up while one is written, and begun at once`() throws {
        var (machine, step) = try Self.atFirstPage()
        let ahead = machine.handle(.page(try Self.page(["c", "d"], next: "4")), at: Self.now)
        #expect(Self.keys(lookedUp: ahead) == ["c", "d"])
        #expect(machine.handle(.known(try Self.known(["c", "d"])), at: Self.now).isEmpty)
        let next = machine.handle(Self.stored(step), at: Self.now)
        #expect(next.contains(.readPage(cursor: "4", limit: 2)))
        guard case .record(let second) = next.last else { throw Unexpected() }
        #expect(second.positions.map(\.key.text) == ["c", "d"])
        #expect(second.run.counts.listed == 4)
    }

    @Test func `what is looked up when the step is written already is waited for`() throws {
        var (machine, step) = try Self.atFirstPage()
        _ = machine.handle(.page(try Self.page(["c", "d"], next: nil)), at: Self.now)
        #expect(machine.handle(Self.stored(step), at: Self.now).isEmpty)
        guard case .record(let second) = machine.handle(.known(try Self.known(["c", "d"])), at: Self.now).last else {
            throw Unexpected()
        }
        #expect(second.positions.map(\.key.text) == ["c", "d"])
        #expect(second.run.checkpoint.phase == .ours)
    }

    @Test func `a page with a transaction of the one in work is looked up once that is written`() throws {
        var (machine, step) = try Self.atFirstPage()
        #expect(machine.handle(.page(try Self.page(["b", "c"], next: nil)), at: Self.now).isEmpty)
        #expect(Self.keys(lookedUp: machine.handle(Self.stored(step), at: Self.now)) == ["b", "c"])
    }

    @Test func `what is read of our books ahead is read again if it is what is being written`() throws {
        var (machine, step) = try Self.atFirstPage()
        _ = machine.handle(.page(try Self.page(["c"], next: nil)), at: Self.now)
        _ = machine.handle(.known(try Self.known(["c"])), at: Self.now)
        guard case .record(let last) = machine.handle(Self.stored(step), at: Self.now).last else { throw Unexpected() }
        #expect(machine.handle(Self.stored(last), at: Self.now) == [.readOurs(after: nil, limit: 2)])
        // As if they had not been remembered: they are asked for, and written.
        let first = machine.handle(.ours(BookedPage(try Self.known(["a", "b"]), limit: 2)), at: Self.now)
        guard case .readOurs(let cursor, _) = first.first, case .ask(let questions) = first.last else {
            throw Unexpected()
        }
        var answers: [EffectKey: KeyAnswer] = [:]
        for question in questions {
            let theirs = try Compared.theirs(question.key.text, .captured, names: question.key.text)
            answers[question.key] = .shown(theirs, isListed: true)
        }
        guard case .record(let ours) = machine.handle(.answers(answers), at: Self.now).last else { throw Unexpected() }
        #expect(cursor?.payment == (try Compared.payment("b")))
        #expect(machine.handle(.ours(BookedPage(try Self.known(["b", "c"]), limit: 2)), at: Self.now).isEmpty)
        #expect(machine.handle(Self.stored(ours), at: Self.now) == [.readOurs(after: cursor, limit: 2)])
    }

    @Test func `pages of which nothing is to be remembered share a step, and not without end`() throws {
        let world = try ComparisonWorld(run: Compared.run(), seed: 1)
        for number in 0..<200 {
            let name = String(number + 1_000)
            world.books[EffectKey(reported: name)] = try Compared.ours(name, .taken)
            world.provider[EffectKey(reported: name)] = try Compared.theirs(name, .captured, names: name)
        }
        try world.finish(Compared.run())
        let first = world.steps
        #expect(world.run.counts[.matched] == 200 && world.run.isProven == true)
        try world.finish(Compared.run(kind: .asked))
        // 67 pages of three of the listing and as many of the books, in groups of 17.
        #expect(world.run.counts.listed == 200 && world.run.counts.booked == 200 && world.run.isProven == true)
        let again = world.steps - first
        #expect(again <= 2 * (67 / 17 + 1) + 4, "\(again)")
        #expect(again >= 2 * (67 / 17), "a crash repeats a bounded part: \(again)")
    }
}
