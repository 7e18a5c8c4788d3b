import LogCapture
import Logging
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import HTTPEdge

/// Who makes room when a listener is full. A test's listener holds sixteen connections; its clock stands still until it
/// is moved.
@Suite struct ConnectionBookTests {
    private final class Clock: Sendable {
        private let moment = Mutex(ContinuousClock.now)
        var now: ContinuousClock.Instant { moment.withLock { $0 } }
        func wait(_ time: Duration) { moment.withLock { $0 += time } }
    }

    /// A connection that leaves the book when it is closed, as the real ones do.
    private final class Client {
        let place: ConnectionBook.Place
        private let channel = EmbeddedChannel()
        private var isClosed = false

        /// Leaves of its own accord.
        func leave() {
            channel.close(promise: nil)
            channel.embeddedEventLoop.run()
        }

        /// Whether it was not told to end. What the loop has to do is done first.
        var isOpen: Bool {
            channel.embeddedEventLoop.run()
            return !isClosed
        }

        init(_ book: ConnectionBook) {
            book.opened()
            let place = book.enter(channel)
            self.place = place
            channel.closeFuture.assumeIsolated().whenComplete { _ in
                self.isClosed = true
                book.leave(place)
                book.closed()
            }
        }
    }

    private func book(_ clock: Clock = Clock(), maximumUnreadBytes: Int = 1_000_000) -> ConnectionBook {
        ConnectionBook(
            name: "test", maximum: 16, maximumUnreadBytes: maximumUnreadBytes, logger: Logger(label: "test"),
            now: { clock.now })
    }

    /// The indices of those that are still connected.
    private func open(_ clients: [Client]) -> [Int] { clients.indices.filter { clients[$0].isOpen } }

    /// A request is under way on each of them.
    private func begin(_ clients: [Client], _ book: ConnectionBook) {
        for client in clients { #expect(book.begins(client.place)) }
    }

    @Test func `who has rested for the longest makes room`() {
        let clock = Clock()
        let book = book(clock)
        let clients = (0..<16).map { _ in Client(book) }
        clock.wait(.seconds(5))
        #expect(book.begins(clients[0].place))
        book.rests(clients[0].place)
        #expect(open(clients).count == 16)
        #expect(book.mayAccept())
        let more = [Client(book), Client(book)]
        #expect(open(clients) == [0] + Array(3..<16))
        #expect(open(more) == [0, 1])
    }

    @Test func `a connection with a request under way is never chosen, and newcomers wait until one is done`() {
        let clock = Clock()
        let book = book(clock)
        let clients = (0..<16).map { _ in Client(book) }
        begin(clients, book)
        clock.wait(.seconds(60))
        #expect(!book.mayAccept())
        #expect(open(clients).count == 16)
        book.rests(clients[7].place)
        #expect(open(clients) == Array(0..<7) + Array(8..<16))
        #expect(book.mayAccept())
    }

    @Test func `one that waits is made room for once`() {
        let clock = Clock()
        let book = book(clock)
        let clients = (0..<16).map { _ in Client(book) }
        begin(clients, book)
        #expect(!book.mayAccept())
        book.rests(clients[7].place)
        #expect(!clients[7].isOpen)
        // The one that waited is here. Whoever rests from now on stays.
        let newcomer = Client(book)
        begin([newcomer], book)
        book.rests(clients[3].place)
        #expect(clients[3].isOpen && newcomer.isOpen)
    }

    @Test func `who leaves answers unread makes room before a newcomer whose request may be on its way`() {
        let clock = Clock()
        let book = book(clock)
        let readers = (0..<16).map { _ in Client(book) }
        begin(readers, book)
        for reader in readers { book.holds(1_000, reader.place) }
        // One is at rest, so that the newcomer is accepted; it makes room at once.
        book.rests(readers[3].place)
        let first = Client(book)
        #expect(open(readers) == Array(0..<3) + Array(4..<16))
        #expect(first.isOpen)
        let probe = Client(book)
        #expect(probe.isOpen && first.isOpen)
        #expect(open(readers) == Array(1..<3) + Array(4..<16))
        // Their moment is over: now they are like any other that rests.
        clock.wait(.seconds(1))
        let late = Client(book)
        #expect(!first.isOpen && probe.isOpen && late.isOpen)
    }

    @Test func `newcomers who ask nothing make room for each other where nobody else can`() {
        let book = book()
        let busy = (0..<15).map { _ in Client(book) }
        begin(busy, book)
        let first = Client(book)
        let second = Client(book)
        #expect(!first.isOpen && second.isOpen && open(busy).count == 15)
    }

    @Test func `who connects in masses and asks nothing ends no reader`() {
        let book = book()
        let reader = Client(book)
        #expect(book.begins(reader.place))
        book.holds(1_000, reader.place)
        let mass = (0..<100).map { _ in Client(book) }
        #expect(reader.isOpen)
        #expect(open(mass) == Array(85..<100))
    }

    @Test func `who left by itself has made room already`() {
        let book = book()
        let clients = (0..<16).map { _ in Client(book) }
        for client in clients[..<4] { client.leave() }
        let more = (0..<4).map { _ in Client(book) }
        #expect(open(clients) == Array(4..<16) && open(more).count == 4)
        _ = Client(book)
        #expect(open(clients).count + open(more).count == 15)
    }

    @Test func `who asked again meanwhile has rested since then, and not since it rested first`() {
        let book = book()
        let clients = (0..<16).map { _ in Client(book) }
        begin(clients, book)
        book.rests(clients[0].place)
        book.rests(clients[1].place)
        begin([clients[0]], book)
        book.rests(clients[0].place)
        _ = Client(book)
        #expect(open(clients) == [0] + Array(2..<16))
    }

    @Test func `too many unread bytes end whoever has not read for the longest`() {
        let book = book(maximumUnreadBytes: 2_500)
        let clients = (0..<3).map { _ in Client(book) }
        begin(clients, book)
        book.holds(1_000, clients[1].place)
        book.holds(1_000, clients[0].place)
        book.holds(1_200, clients[1].place)
        #expect(open(clients) == [0, 1, 2])
        book.holds(1_000, clients[2].place)
        #expect(open(clients) == [0, 2])
        // What was read counts no more.
        book.holds(0, clients[0].place)
        book.holds(2_400, clients[2].place)
        #expect(open(clients) == [0, 2])
    }

    @Test func `a connection that is about to end begins nothing`() {
        let clock = Clock()
        let book = book(clock)
        let clients = (0..<16).map { _ in Client(book) }
        clock.wait(.seconds(2))
        let more = Client(book)
        #expect(more.isOpen)
        #expect(!book.begins(clients[0].place))
        #expect(book.begins(clients[1].place))
    }

    @Test func `the log tells of ended connections at most every ten seconds, and of how many there were`() {
        let (clock, lines) = (Clock(), LogLines())
        let book = ConnectionBook(
            name: "test", maximum: 16, maximumUnreadBytes: 1_000_000,
            logger: Logger(label: "test") { _ in lines.handler },
            now: { clock.now })
        func told() -> [String] {
            lines.all.compactMap { $0.firstMatch(of: /"count": (\d+)/).map { String($0.output.1) } }
        }
        book.ended(.full)
        for _ in 0..<3 {
            clock.wait(.seconds(3))
            book.ended(.full)
        }
        #expect(told() == ["1"])
        book.ended(.unread)
        #expect(told() == ["1", "1"], "each reason is told by itself")
        clock.wait(.seconds(1))
        book.ended(.full)
        #expect(told() == ["1", "1", "4"])
    }
}
