import PaymentCore
import Reconciler
import Testing

extension ContractCase {
    /// The suite of a provider that cannot be asked: what answers and resends show, and no books.
    static func withoutInquiry(with traits: Set<SuiteTrait>) -> [ContractCase] {
        withoutInquiry.filter { $0.needs.isSubset(of: traits) }
    }

    private static let withoutInquiry: [ContractCase] = [
        ContractCase("hold, take, give back: each is received, and its end is told later") { subject in
            var book = subject.book
            let held = try await subject.main.send(book.send(.authorize))
            #expect(held.outcome == .accepted && held.observation?.status == .authorized, "\(held)")
            let reference = try #require(held.reference, "\(held)")
            book.transactionReference = reference
            let taken = try await subject.main.send(book.send(.capture))
            #expect(taken.outcome == .accepted && taken.observation?.captures.map(\.state) == [.pending], "\(taken)")
            let back = try await subject.main.send(book.send(.refund, 500))
            #expect(back.outcome == .accepted && back.observation?.refunds.map(\.state) == [.pending], "\(back)")
        },
        ContractCase("a release is received, and its end is told later") { subject in
            var book = subject.book
            let held = try await subject.main.send(book.send(.authorize))
            let reference = try #require(held.reference, "\(held)")
            book.transactionReference = reference
            let released = try await subject.main.send(book.send(.void))
            #expect(released.outcome == .accepted && released.observation?.status == .authorized, "\(released)")
        },
        ContractCase("the same request is answered with the same payment") { subject in
            let book = subject.book
            var references: Set<String?> = []
            for _ in 0..<3 {
                let report = try await subject.main.send(book.send(.authorize))
                #expect(report.outcome == .accepted, "\(report)")
                references.insert(report.reference)
            }
            #expect(references.count == 1 && !references.contains(nil))
        },
        inDoubt(.requestLost), inDoubt(.answerLost), inDoubt(.failsBefore), inDoubt(.failsAfter), inDoubt(.page),
        inDoubt(.cutOff), inDoubt(.slow), inDoubt(.unavailable),
        ContractCase("a rate limit has no effect") { subject in
            try await subject.suffer(.throttled, on: .authorize)
            let report = try await subject.main.send(subject.book.send(.authorize))
            #expect(report.outcome == .throttled && report.retryAfter != nil, "\(report)")
        },
        ContractCase("a request that arrives twice is one payment") { subject in
            let book = subject.book
            try await subject.suffer(.twice, on: .authorize)
            let first = try await subject.main.send(book.send(.authorize))
            let again = try await subject.main.send(book.send(.authorize))
            #expect(first.outcome == .accepted && first.reference == again.reference, "\(first) \(again)")
        },
        ContractCase("a decline is kept under its key", needs: [.declines]) { subject in
            var book = subject.book
            book.instrument = subject.instrument(.declined)
            for _ in 0..<2 {
                let report = try await subject.main.send(book.send(.authorize))
                #expect(report.outcome == .declined && report.observation?.status == .declined, "\(report)")
            }
        },
        ContractCase("an instrument that nobody knows is refused") { subject in
            var book = subject.book
            book.instrument = subject.instrument(.unknown)
            let report = try await subject.main.send(book.send(.authorize))
            #expect(report.outcome == .refused && !report.credentialsRefused && report.namesKey, "\(report)")
        },
        ContractCase("a cancel by our own reference is received, whether there is a payment or not") { subject in
            let report = try await subject.main.send(subject.book.send(.void))
            #expect(report.outcome == .accepted && report.code == "received", "\(report)")
        },
        ContractCase("what a change needs is the provider's reference, and without it nothing is sent") { subject in
            for kind in [EffectKind.capture, .refund] {
                let report = try await subject.main.send(subject.book.send(kind))
                #expect(report.outcome == .unsent && report.code == "no_reference", "\(report)")
            }
        },
        ContractCase("refused credentials are told apart") { subject in
            let report = try await subject.stranger.send(subject.book.send(.authorize))
            #expect(report.outcome == .refused && report.credentialsRefused, "\(report)")
        },
        ContractCase("where nobody listens nothing was sent") { subject in
            let report = try await subject.unreachable.send(subject.book.send(.authorize))
            #expect(report.outcome == .unsent && report.bytesWritten == 0, "\(report)")
        },
    ]

    /// The outcome is in doubt, and the same request under the same key has the answer.
    private static func inDoubt(_ fault: SuiteFault) -> ContractCase {
        ContractCase("\(fault) leaves a hold in doubt, and a resend has its answer") { subject in
            let book = subject.book
            try await subject.suffer(fault, on: .authorize)
            let lost = try await subject.main.send(book.send(.authorize))
            #expect(lost.outcome == .indeterminate && lost.observation == nil, "\(lost)")
            let again = try await subject.main.send(book.send(.authorize))
            #expect(again.outcome == .accepted && again.reference != nil, "\(again)")
            let third = try await subject.main.send(book.send(.authorize))
            #expect(third.reference == again.reference)
        }
    }
}
