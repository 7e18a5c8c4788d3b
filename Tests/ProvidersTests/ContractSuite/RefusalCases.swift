import PaymentCore
import Reconciler
import Testing

extension ContractCase {
    /// What is declined or refused.
    static let refusals: [ContractCase] = [
        ContractCase("a decline is bound to its key") { subject in
            var book = OrderBook()
            book.instrument = subject.instrument(.declined)
            for _ in 0..<2 {
                let report = try await subject.twoPhase.send(book.send(.authorize))
                #expect(report.outcome == .declined && report.observation?.status == .declined)
                #expect(report.code == report.observation?.reason)
            }
            #expect(try await subject.twoPhase.inquire(book.inquiry()).status == .declined)
        },
        ContractCase("a declined capture leaves the hold, a declined refund the charge") { subject in
            var book = OrderBook()
            book.instrument = subject.instrument(.captureDeclined)
            _ = try await subject.twoPhase.send(book.send(.authorize))
            let capture = try await subject.twoPhase.send(book.send(.capture))
            #expect(capture.outcome == .declined && capture.observation?.status == .authorized)
            #expect(capture.observation?.captures.first?.state == .declined)
            book.instrument = subject.instrument(.refundDeclined)
            book.paymentKey = "another"
            _ = try await subject.onePhase.send(book.send(.sale))
            let refund = try await subject.onePhase.send(book.sendAfterSale(.refund))
            #expect(refund.outcome == .declined && refund.observation?.status == .captured)
            #expect(refund.observation?.refunds.first?.state == .declined)
        },
        ContractCase("an instrument that nobody knows is refused") { subject in
            var book = OrderBook()
            book.instrument = subject.instrument(.unknown)
            let report = try await subject.twoPhase.send(book.send(.authorize))
            #expect(report.outcome == .refused && !report.credentialsRefused)
            #expect(try await subject.twoPhase.inquire(book.inquiry()).status == .notFound)
        },
        ContractCase(
            "the same key with another body is a conflict, and leads to an inquiry", needs: [.conflictingKeys]
        ) { subject in
            let book = OrderBook()
            _ = try await subject.twoPhase.send(book.send(.authorize))
            let report = try await subject.twoPhase.send(book.send(.authorize, 1300))
            #expect(report.outcome == .indeterminate && report.code == "key_conflict")
            #expect(report.observation == nil)
        },
        ContractCase(
            "a request that comes after its time is not executed, and leads to an inquiry", needs: [.notAfter]
        ) { subject in
            let book = OrderBook()
            let past = Timestamp(rfc3339: "2020-01-01T00:00:00Z")
            let report = try await subject.twoPhase.send(book.send(.authorize, notAfter: past))
            #expect(report.outcome == .indeterminate && report.code == "not_after_passed")
            #expect(try await subject.books(of: book.key(.authorize)) == SuiteBooks())
            let future = Timestamp(rfc3339: "2099-01-01T00:00:00Z")
            #expect(try await subject.twoPhase.send(book.send(.authorize, notAfter: future)).outcome == .accepted)
        },
        ContractCase("more than was held or taken is refused") { subject in
            let book = OrderBook()
            _ = try await subject.twoPhase.send(book.send(.authorize))
            #expect(try await subject.twoPhase.send(book.send(.capture, 1201)).code == "amount_too_large")
            _ = try await subject.twoPhase.send(book.send(.capture, discriminator: "again"))
            let refund = try await subject.twoPhase.send(book.send(.refund, 1201))
            #expect(refund.outcome == .refused && refund.code == "amount_too_large")
        },
        ContractCase("what can no longer be had is refused with the transaction") { subject in
            let book = OrderBook()
            _ = try await subject.twoPhase.send(book.send(.authorize))
            _ = try await subject.twoPhase.send(book.send(.void))
            for kind in [EffectKind.authorize, .capture, .refund] {
                let report = try await subject.twoPhase.send(book.send(kind))
                #expect(report.outcome == .refused && report.observation?.status == .voided, "\(kind)")
            }
        },
        ContractCase("a void comes too late for what was captured") { subject in
            let book = OrderBook()
            _ = try await subject.twoPhase.send(book.send(.authorize))
            _ = try await subject.twoPhase.send(book.send(.capture))
            let report = try await subject.twoPhase.send(book.send(.void))
            #expect(report.outcome == .refused && report.observation?.status == .captured)
            #expect(try await subject.books(of: book.key(.authorize)).net == 1200)
        },
        ContractCase("a void of something undecided is tried again later") { subject in
            let book = OrderBook()
            try await subject.suffer(.pending, on: .authorize)
            _ = try await subject.twoPhase.send(book.send(.authorize))
            let report = try await subject.twoPhase.send(book.send(.void))
            #expect(report.outcome == .throttled && report.observation?.status == .pending)
            var number = 1
            try await eventually {
                number += 1
                return try await subject.twoPhase.send(book.send(.void, number: number)).outcome == .accepted
            }
        },
        ContractCase("captures and refunds of something unknown are refused") { subject in
            let book = OrderBook()
            for kind in [EffectKind.capture, .refund] {
                let report = try await subject.twoPhase.send(book.send(kind))
                // A wire whose changes name what they find has sent nothing.
                #expect(report.outcome == .refused || report.outcome == .unsent, "\(kind)")
                #expect(report.observation?.status == .notFound && report.code == "not_found", "\(kind)")
            }
        },
        ContractCase("a void that leaves nothing behind is no tombstone", needs: [.voidOfNothing]) { subject in
            let book = OrderBook()
            let report = try await subject.withoutTombstones.send(book.send(.void))
            #expect(report.outcome == .refused && report.code == "not_found")
            #expect(report.observation?.status == .notFound)
            #expect(try await subject.withoutTombstones.send(book.send(.authorize)).outcome == .accepted)
        },
        ContractCase("refused credentials are told apart") { subject in
            let book = OrderBook()
            for kind in [EffectKind.authorize, .capture, .void, .refund] {
                let report = try await subject.stranger.send(book.send(kind))
                #expect(report.outcome == .refused && report.credentialsRefused, "\(kind)")
            }
            #expect(try await subject.stranger.inquire(book.inquiry()).status == .unavailable)
        },
    ]
}
