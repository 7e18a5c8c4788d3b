import PaymentCore
import Reconciler
import Testing

extension ContractCase {
    /// What goes well.
    static let lifecycle: [ContractCase] = [
        ContractCase("hold, take, give back", needs: [.holds]) { subject in
            let book = subject.book
            let held = try await subject.main.send(book.send(.authorize))
            #expect(held.outcome == .accepted && held.observation?.status == .authorized)
            #expect(try held.observation?.amount == book.money(1200))
            #expect(held.observation?.authorizedUntil != nil)
            let taken = try await subject.main.send(book.send(.capture, 1000))
            #expect(taken.outcome == .accepted && taken.observation?.status == .captured)
            #expect(try taken.observation?.captures.first?.key == book.key(.capture))
            let first = try await subject.main.send(book.send(.refund, 300))
            #expect(first.outcome == .accepted)
            let second = try await subject.main.send(book.send(.refund, 700, discriminator: "second"))
            #expect(second.observation?.refunds.map(\.state) == [.succeeded, .succeeded])
            #expect(try await subject.books(of: book.key(.authorize)) == SuiteBooks(holds: 1, charges: 1))
        },
        ContractCase("a sale takes at once") { subject in
            let book = subject.book
            let sold = try await subject.onePhase.send(book.send(.sale))
            #expect(sold.outcome == .accepted && sold.observation?.status == .captured)
            #expect(sold.observation?.contradiction == nil)
            let back = try await subject.onePhase.send(book.sendAfterSale(.refund))
            #expect(back.outcome == .accepted)
            let known = try await subject.onePhase.inquire(book.inquiry(.sale))
            #expect(try known.refunds.first?.amount == book.money(1200))
        },
        ContractCase("the same request is done once and answered twice") { subject in
            let book = subject.book
            for _ in 0..<3 {
                let report = try await subject.main.send(book.send(book.primary))
                #expect(report.outcome == .accepted && report.observation?.status == subject.firstStatus)
            }
            for _ in 0..<3 where subject.holds {
                #expect(try await subject.main.send(book.send(.capture)).outcome == .accepted)
            }
            for _ in 0..<3 {
                #expect(try await subject.main.send(book.send(.refund, 200)).outcome == .accepted)
            }
            let books = try await subject.books(of: book.key(book.primary))
            #expect(books == SuiteBooks(holds: subject.holds ? 1 : 0, charges: 1, net: 1000))
        },
        ContractCase("a void gives back, however often", needs: [.voids]) { subject in
            let book = subject.book
            _ = try await subject.main.send(book.send(book.primary))
            for _ in 0..<2 {
                let report = try await subject.main.send(book.send(.void))
                #expect(report.outcome == .accepted && report.observation?.status == .voided)
            }
            let nothingLeft = subject.holds ? SuiteBooks(holds: 1) : SuiteBooks(charges: 1)
            #expect(try await subject.books(of: book.key(book.primary)) == nothingLeft)
        },
        ContractCase("a void of what is not there keeps it from happening", needs: [.tombstones]) { subject in
            let book = subject.book
            let tombstone = try await subject.main.send(book.send(.void))
            #expect(tombstone.outcome == .accepted && tombstone.observation?.status == .tombstoned)
            #expect(tombstone.observation?.amount == nil)
            let late = try await subject.main.send(book.send(book.primary))
            #expect(late.outcome == .refused && late.observation?.status == .tombstoned)
            let isVisible = subject.traits.contains(.visibleTombstones)
            let shown = try await subject.main.inquire(book.inquiry()).status
            #expect(shown == (isVisible ? .tombstoned : .notFound))
            #expect(try await subject.books(of: book.key(book.primary)) == SuiteBooks())
        },
        ContractCase("an inquiry reads what is there, and what is not") { subject in
            let book = subject.book
            #expect(try await subject.main.inquire(book.inquiry()).status == .notFound)
            _ = try await subject.main.send(book.send(book.primary))
            let known = try await subject.main.inquire(book.inquiry())
            #expect(known.status == subject.firstStatus && known.source == .inquiry)
            #expect(try known.key == book.key(book.primary) && known.contradiction == nil)
        },
        ContractCase("the listing shows what was taken and given back", needs: [.holds, .lists]) { subject in
            let book = subject.book
            let began = DeviceClock().now()
            for kind in [EffectKind.authorize, .capture] { _ = try await subject.main.send(book.send(kind)) }
            _ = try await subject.main.send(book.send(.refund, 300))
            let listing = try #require(subject.main.listing)
            let key = try book.key(.authorize)
            // The provider's clock may differ a little, and its listing may lag.
            try await eventually {
                let now = DeviceClock().now()
                let window = try #require(ComparedWindow(from: began + .minutes(-2), to: now + .minutes(2)))
                let listed = try await all(of: listing, in: window).filter { $0.key == key }
                return try listed.count == 1 && listed[0].status == .captured
                    && listed[0].captured == book.money(1200) && listed[0].refunds.map(\.amount) == [book.money(300)]
            }
        },
    ]

    private static func all(of listing: any ListingProvider, in window: ComparedWindow) async throws
        -> [ListedPosition]
    {
        var page = try await listing.list(ListingOrder(window: window, cursor: nil, limit: 100))
        var positions = page.positions
        while let cursor = page.next {
            page = try await listing.list(ListingOrder(window: window, cursor: cursor, limit: 100))
            positions += page.positions
        }
        return positions
    }
}
