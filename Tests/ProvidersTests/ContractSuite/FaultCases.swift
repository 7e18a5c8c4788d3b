import PaymentCore
import Reconciler
import Testing

extension ContractCase {
    /// What goes wrong on the way, for each kind of change.
    static let faults: [ContractCase] = [
        indeterminate(.requestLost, executes: false), indeterminate(.answerLost, executes: true),
        indeterminate(.failsBefore, executes: false), indeterminate(.failsAfter, executes: true),
        indeterminate(.page, executes: true), indeterminate(.cutOff, executes: true),
        indeterminate(.statusMissing, executes: true), noEffect(.throttled), noEffect(.unavailable),
        ContractCase("an answer that takes too long proves nothing") { subject in
            let book = subject.book
            try await subject.suffer(.slow, on: .authorize)
            let report = try await subject.impatient.send(book.send(book.primary))
            #expect(report.outcome == .indeterminate && report.code == "read_timeout")
            #expect(report.bytesWritten > 0)
            #expect(try await subject.main.inquire(book.inquiry()).status == subject.firstStatus)
        },
        ContractCase("where nobody listens nothing was sent") { subject in
            let book = subject.book
            for kind in subject.kinds {
                let report = try await subject.unreachable.send(book.send(kind))
                #expect(report.outcome == .unsent && report.code == "connection_refused", "\(kind)")
                #expect(report.bytesWritten == 0)
            }
            let known = try await subject.unreachable.inquire(book.inquiry())
            #expect(known.status == .unavailable && known.reason == "connection_refused")
        },
        ContractCase("an order whose time to start is over is not sent") { subject in
            let book = subject.book
            let report = await subject.main.send(
                try book.send(book.primary, startBefore: StandingClock.noon + .milliseconds(-1)))
            #expect(report.outcome == .unsent && report.bytesWritten == 0)
            #expect(try await subject.main.inquire(book.inquiry()).status == .notFound)
        },
        ContractCase("undecided is accepted as undecided, and is decided later", needs: [.obeys]) { subject in
            let book = subject.book
            try await subject.suffer(.pending, on: .authorize)
            let report = try await subject.main.send(book.send(book.primary))
            #expect(report.outcome == .accepted && report.observation?.status == .pending)
            try await eventually { try await subject.main.inquire(book.inquiry()).status == subject.firstStatus }
        },
        ContractCase("an undecided capture is accepted as undecided", needs: [.holds, .pendingCaptures, .obeys]) {
            subject in
            let book = subject.book
            _ = try await subject.main.send(book.send(book.primary))
            try await subject.suffer(.pending, on: .capture)
            let capture = try await subject.main.send(book.send(.capture))
            #expect(capture.outcome == .accepted && capture.observation?.captures.first?.state == .pending)
            try await eventually { try await subject.main.inquire(book.inquiry()).status == .captured }
        },
        ContractCase("another amount is accepted and shown as it is", needs: [.obeys]) { subject in
            let book = subject.book
            try await subject.suffer(.otherAmount, on: .authorize)
            let report = try await subject.main.send(book.send(book.primary))
            #expect(try report.outcome == .accepted && report.observation?.amount == book.money(1201))
        },
        ContractCase("a request that arrives twice is done once") { subject in
            let book = subject.book
            try await subject.suffer(.twice, on: .authorize)
            #expect(try await subject.main.send(book.send(book.primary)).outcome == .accepted)
            #expect(try await subject.books(of: book.key(book.primary)) == subject.once(1200))
        },
        ContractCase("not found is not never: a lost request arrives late") { subject in
            let book = subject.book
            try await subject.suffer(.late, on: .authorize)
            #expect(try await subject.main.send(book.send(book.primary)).outcome == .indeterminate)
            #expect(try await subject.main.inquire(book.inquiry()).status == .notFound)
            try await eventually { try await subject.main.inquire(book.inquiry()).status == subject.firstStatus }
        },
        ContractCase("a stale read shows the state before", needs: [.obeys]) { subject in
            let book = subject.book
            try await subject.suffer(.staleReads, on: .authorize)
            #expect(try await subject.main.send(book.send(book.primary)).outcome == .accepted)
            #expect(try await subject.main.inquire(book.inquiry()).status == .notFound)
            try await eventually { try await subject.main.inquire(book.inquiry()).status == subject.firstStatus }
        },
    ]

    /// What goes wrong with an inquiry.
    static let faultsOfInquiries: [ContractCase] =
        [
            SuiteFault.requestLost, .answerLost, .failsBefore, .failsAfter, .page, .cutOff, .statusMissing, .throttled,
            .unavailable,
        ].map { fault in
            ContractCase("an inquiry that suffers \(fault) is unavailable, and nothing else") { subject in
                let book = subject.book
                _ = try await subject.main.send(book.send(book.primary))
                try await subject.suffer(fault, on: .inquire)
                let known = try await subject.main.inquire(book.inquiry())
                #expect(known.status == .unavailable && known.reason?.isEmpty == false)
                #expect(try await subject.main.inquire(book.inquiry()).status == subject.firstStatus)
            }
        }

    /// The outcome is in doubt, and an inquiry or the same request tells.
    private static func indeterminate(_ fault: SuiteFault, executes: Bool) -> ContractCase {
        ContractCase(
            "\(fault) leaves every change in doubt", needs: fault == .failsBefore ? [.errorsNotStored] : []
        ) { subject in
            // What is not in an answer cannot be missing from it.
            let isWhole = fault == .statusMissing && !subject.traits.contains(.voidsShowTransactions)
            for (operation, kinds) in subject.changes where !(isWhole && operation == .void) {
                var book = subject.book
                book.paymentKey = "\(operation)"
                let last = try #require(kinds.last)
                for kind in kinds.dropLast() { _ = try await subject.main.send(book.send(kind)) }
                let before = try await subject.main.shown(book.inquiry())
                try await subject.suffer(fault, on: operation)
                let report = try await subject.main.send(book.send(last))
                #expect(report.outcome == .indeterminate && report.observation == nil, "\(operation)")
                #expect(report.bytesWritten > 0, "\(operation)")
                let after = try await subject.main.shown(book.inquiry())
                #expect((after != before) == executes, "\(operation)")
                #expect(try await subject.main.send(book.send(last)).outcome == .accepted, "\(operation)")
                #expect(try await subject.books(of: book.key(book.primary)).charges <= 1)
            }
        }
    }

    /// Nothing was done, and the provider said when to come back.
    private static func noEffect(_ fault: SuiteFault) -> ContractCase {
        ContractCase(
            "\(fault) has no effect", needs: fault == .unavailable ? [.unavailableProvesNothingDone] : []
        ) { subject in
            for (operation, kinds) in subject.changes {
                var book = subject.book
                book.paymentKey = "\(operation)"
                let last = try #require(kinds.last)
                for kind in kinds.dropLast() { _ = try await subject.main.send(book.send(kind)) }
                let before = try await subject.main.shown(book.inquiry())
                try await subject.suffer(fault, on: operation)
                let report = try await subject.main.send(book.send(last))
                #expect(report.outcome == .throttled, "\(operation)")
                #expect(try #require(report.retryAfter) > StandingClock.noon, "\(operation)")
                #expect(try await subject.main.shown(book.inquiry()) == before, "\(operation)")
            }
        }
    }
}
