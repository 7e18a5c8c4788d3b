import PaymentCore
import Testing

@Suite struct ContractTests {
    private func traps(
        _ contract: ProviderContract, _ assumptions: SafetyAssumptions = SafetyAssumptions()
    ) -> Set<ContractTrap.Name> {
        Set(contract.traps(under: assumptions).map(\.name))
    }

    private let plug = SafetyAssumptions(plugAllowed: true)

    @Test(arguments: [ProviderContract.reference, .referenceSale, .enforcing, .forgetful])
    func `what the reference offers is safe as it is`(_ contract: ProviderContract) {
        #expect(traps(contract).isEmpty)
    }

    @Test(arguments: [ProviderContract.stripe, .payPay, .gmoPG])
    func `without tombstone and not_after the plug has to be allowed`(_ contract: ProviderContract) {
        #expect(traps(contract) == [.undoImpossible])
        #expect(traps(contract, plug).isEmpty)
    }

    @Test func `a one-phase provider needs a store that keeps what it acknowledged`() {
        var assumptions = plug
        assumptions.storeKeepsAcknowledgedRows = false
        #expect(traps(.referenceSale, assumptions) == [.onePhaseOnAsynchronousStore])
        #expect(traps(.payPay, assumptions) == [.onePhaseOnAsynchronousStore])
        #expect(traps(.reference, assumptions).isEmpty)
        assumptions.onePhaseOnAsynchronousStoreAccepted = true
        #expect(traps(.referenceSale, assumptions).isEmpty)
    }

    @Test func `what cannot be asked must be canceled and never forgotten`() {
        var contract = ProviderContract.reference
        contract.inquiry = .none
        contract.keyRetention = .days(1)
        #expect(traps(contract).contains(.noInquiryAndKeysExpire))
        contract.cancel = .none
        #expect(traps(contract).isSuperset(of: [.noInquiryAndKeysExpire, .noInquiryAndNoCancel]))
    }

    @Test(arguments: [Span.zero, .minutes(2), .minutes(2) + .seconds(5)])
    func `keys must live longer than requests`(_ retention: Span) {
        var contract = ProviderContract.reference
        contract.keyRetention = retention
        contract.enforcesNotAfter = false
        #expect(traps(contract) == [.keysNotIdempotent])
        contract.keyRetention = retention + .minutes(3)
        #expect(traps(contract).isEmpty)
    }

    @Test func `a status must outlive its proof`() {
        var contract = ProviderContract.reference
        contract.visibilityLag = .minutes(1)
        contract.statusRetention = .minutes(3) + .seconds(5)
        #expect(traps(contract) == [.statusForgottenBeforeProof])
        contract.statusRetention = .minutes(3) + .seconds(6)
        #expect(traps(contract).isEmpty)
    }

    @Test func `limits must make sense`() {
        let changes: [(inout ProviderContract) -> Void] = [
            { $0.requestsPerSecond = 0 }, { $0.concurrency = 0 }, { $0.maxRequestLife = .zero },
            { $0.clockSkew = .seconds(-1) }, { $0.visibilityLag = .seconds(-1) },
        ]
        for change in changes {
            var contract = ProviderContract.reference
            change(&contract)
            #expect(traps(contract).contains(.senselessLimit))
        }
    }

    @Test func `every trap has its own name and says what is allowed`() {
        var found: Set<ContractTrap.Name> = []
        for inquiry in ProviderContract.Inquiry.allCases {
            for (cancel, retention) in ProviderContract.Cancel.allCases.flatMap({
                [($0, Span?.some(.zero)), ($0, nil)]
            }) {
                for phases in ProviderContract.Phases.allCases {
                    var contract = ProviderContract(phases: phases)
                    contract.inquiry = inquiry
                    contract.cancel = cancel
                    contract.keyRetention = retention
                    contract.enforcesNotAfter = false
                    contract.statusRetention = .zero
                    contract.concurrency = 0
                    let assumptions = SafetyAssumptions(storeKeepsAcknowledgedRows: false)
                    for trap in contract.traps(under: assumptions) {
                        found.insert(trap.name)
                        #expect(trap.description == "\(trap.name.rawValue): \(trap.explanation)")
                        #expect(trap.explanation.count > 20)
                    }
                }
            }
        }
        #expect(found == Set(ContractTrap.Name.allCases))
    }

    @Test func `the known contracts have names of their own`() {
        #expect(Set(ProviderContract.known.map(\.name)).count == ProviderContract.known.count)
        #expect(ProviderContract.known.count == 5)
        #expect(ProviderContract.reference.safeResendAge == nil)
        #expect(ProviderContract.stripe.safeResendAge == .hours(24) - .minutes(2) - .seconds(5))
        #expect(ProviderContract.stripe.proofMargin == .minutes(1) + .seconds(5))
    }
}
