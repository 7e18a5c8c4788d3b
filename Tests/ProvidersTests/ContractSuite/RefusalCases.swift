import PaymentCore
import Reconciler
import Testing

extension ContractCase {
    /// What is declined or refused.
    static let refusals: [ContractCase] = [
        ContractCase("a decline is bound to its key", needs: [.declines]) { subject in
            var book = subject.book
            book.instrument = subject.instrument(.declined)
            for _ in 0..<2 {
                let report = try await subject.main.send(book.send(book.primary))
                #expect(report.outcome == .declined && report.observation?.status == .declined)
                #expect(report.code == report.observation?.reason)
            }
            #expect(try await subject.main.inquire(book.inquiry()).status == .declined)
        },
        ContractCase("a declined capture leaves the hold, a declined refund the charge", needs: [.declinesChanges]) {
            subject in
            var book = subject.book
            if subject.holds {
                book.instrument = subject.instrument(.captureDeclined)
                _ = try await subject.main.send(book.send(.authorize))
                let capture = try await subject.main.send(book.send(.capture))
                #expect(capture.outcome == .declined && capture.observation?.status == .authorized)
                #expect(capture.observation?.captures.first?.state == .declined)
            }
            book.instrument = subject.instrument(.refundDeclined)
            book.paymentKey = "another"
            _ = try await subject.onePhase.send(book.send(.sale))
            let refund = try await subject.onePhase.send(book.sendAfterSale(.refund))
            #expect(refund.outcome == .declined && refund.observation?.status == .captured)
            #expect(refund.observation?.refunds.first?.state == .declined)
        },
        ContractCase("an instrument that nobody knows is refused") { subject in
            var book = subject.book
            book.instrument = subject.instrument(.unknown)
            let report = try await subject.main.send(book.send(book.primary))
            #expect(report.outcome == .refused && !report.credentialsRefused)
            #expect(try await subject.main.inquire(book.inquiry()).status == .notFound)
        },
        ContractCase(
            "the same key with another body is a conflict, and leads to an inquiry", needs: [.conflictingKeys]
        ) { subject in
            let book = subject.book
            _ = try await subject.main.send(book.send(book.primary))
            let report = try await subject.main.send(book.send(book.primary, 1300))
            #expect(report.outcome == .indeterminate && report.code == "key_conflict")
            #expect(report.observation == nil)
        },
        ContractCase(
            "a request that comes after its time is not executed, and leads to an inquiry", needs: [.notAfter]
        ) { subject in
            let book = subject.book
            let past = Timestamp(rfc3339: "2020-01-01T00:00:00Z")
            let report = try await subject.main.send(book.send(book.primary, notAfter: past))
            #expect(report.outcome == .indeterminate && report.code == "not_after_passed")
            #expect(try await subject.books(of: book.key(book.primary)) == SuiteBooks())
            let future = Timestamp(rfc3339: "2099-01-01T00:00:00Z")
            #expect(try await subject.main.send(book.send(book.primary, notAfter: future)).outcome == .accepted)
        },
        ContractCase("more than was held or taken is refused") { subject in
            let book = subject.book
            _ = try await subject.main.send(book.send(book.primary))
            if subject.holds {
                #expect(try await subject.main.send(book.send(.capture, 1201)).code == "amount_too_large")
                _ = try await subject.main.send(book.send(.capture, discriminator: "again"))
            }
            let refund = try await subject.main.send(book.send(.refund, 1201))
            #expect(refund.outcome == .refused && refund.code == "amount_too_large")
        },
        ContractCase("what can no longer be had is refused with the transaction", needs: [.voids]) { subject in
            let book = subject.book
            _ = try await subject.main.send(book.send(book.primary))
            _ = try await subject.main.send(book.send(.void))
            for kind in subject.kinds where kind != .void {
                let report = try await subject.main.send(book.send(kind))
                #expect(report.outcome == .refused && report.observation?.status == .voided, "\(kind)")
            }
        },
        ContractCase("a void comes too late for what was captured", needs: [.holds]) { subject in
            let book = subject.book
            _ = try await subject.main.send(book.send(book.primary))
            _ = try await subject.main.send(book.send(.capture))
            let report = try await subject.main.send(book.send(.void))
            #expect(report.outcome == .refused && report.observation?.status == .captured)
            #expect(try await subject.books(of: book.key(book.primary)).net == 1200)
        },
        ContractCase("a void of something undecided is tried again later", needs: [.voids, .obeys]) { subject in
            let book = subject.book
            try await subject.suffer(.pending, on: .authorize)
            _ = try await subject.main.send(book.send(book.primary))
            let report = try await subject.main.send(book.send(.void))
            #expect(report.outcome == .throttled && report.observation?.status == .pending)
            var number = 1
            try await eventually {
                number += 1
                return try await subject.main.send(book.send(.void, number: number)).outcome == .accepted
            }
        },
        ContractCase("captures and refunds of something unknown are refused") { subject in
            let book = subject.book
            for kind in subject.kinds where kind == .capture || kind == .refund {
                let report = try await subject.main.send(book.send(kind))
                // A wire whose changes name what they find has sent nothing.
                #expect(report.outcome == .refused || report.outcome == .unsent, "\(kind)")
                #expect(report.observation?.status == .notFound && report.code == "not_found", "\(kind)")
            }
        },
        ContractCase("a void that leaves nothing behind is no tombstone", needs: [.voidOfNothing]) { subject in
            let book = subject.book
            let report = try await subject.withoutTombstones.send(book.send(.void))
            #expect(report.outcome == .refused && report.code == "not_found")
            #expect(report.observation?.status == .notFound)
            #expect(try await subject.withoutTombstones.send(book.send(book.primary)).outcome == .accepted)
        },
        ContractCase("refused credentials are told apart") { subject in
            let book = subject.book
            for kind in subject.kinds {
                let report = try await subject.stranger.send(book.send(kind))
                #expect(report.outcome == .refused && report.credentialsRefused, "\(kind)")
            }
            #expect(try await subject.stranger.inquire(book.inquiry()).status == .unavailable)
        },
    ]
}
