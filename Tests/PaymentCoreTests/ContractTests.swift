import PaymentCore
import Testing

@Suite struct ContractTests {
    private func traps(
        _ contract: ProviderContract, _ assumptions: SafetyAssumptions = SafetyAssumptions()
    ) -> Set<ContractTrap.Name> {
        Set(contract.traps(under: assumptions).map(\.name))
    }

    private let plug = SafetyAssumptions(plugAllowed: true)

    @Test(arguments: [ProviderContract.reference, .referenceSale, .enforcing, .forgetful, .stripe])
    func `what the reference offers is safe as it is`(_ contract: ProviderContract) {
        #expect(traps(contract).isEmpty)
    }

    @Test(arguments: [ProviderContract.listed, .payPay, .gmoPG])
    func `without tombstone and not_after the plug has to be allowed`(_ contract: ProviderContract) {
        #expect(traps(contract) == [.undoImpossible])
        #expect(traps(contract, plug).isEmpty)
    }

    @Test func `a provider whose transactions cannot be listed is not compared`() {
        let listed = ProviderContract.known.filter(\.contract.listing).map(\.name)
        #expect(listed == ["reference", "reference_sale", "paypay", "listed"], "\(listed)")
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
    func `keys must live longer than requests, enforced not_after or not`(_ retention: Span) {
        for enforced in [true, false] {
            var contract = ProviderContract.reference
            contract.keyRetention = retention
            contract.enforcesNotAfter = enforced
            #expect(traps(contract) == [.keysNotIdempotent])
            contract.keyRetention = retention + .minutes(3)
            #expect(traps(contract).isEmpty)
        }
    }

    @Test(arguments: [ProviderContract.reference, .referenceSale, .enforcing, .listed, .payPay, .gmoPG])
    func `reads without a bound on their staleness prove nothing, whatever else is offered`(
        _ contract: ProviderContract
    ) {
        var contract = contract
        contract.visibilityLag = ProviderContract.unboundedLag
        #expect(traps(contract, plug) == [.staleReadsUnbounded])
        contract.visibilityLag = .hours(1)
        #expect(traps(contract, plug).isEmpty)
    }

    @Test func `stale reads may outlast keys only where something else than sending again undoes`() {
        var contract = ProviderContract.listed
        contract.visibilityLag = .hours(24) - contract.maxRequestLife - contract.clockSkew
        #expect(traps(contract, plug) == [.staleReadsOutlastKeys])
        contract.enforcesNotAfter = true
        #expect(traps(contract, plug).isEmpty)
        contract.enforcesNotAfter = false
        contract.cancel = .tombstoning
        #expect(traps(contract, plug).isEmpty)
        contract.cancel = .none
        contract.visibilityLag = contract.visibilityLag - .milliseconds(1)
        #expect(traps(contract, plug).isEmpty)
    }

    @Test func `what may leave late and take long must fit into the longest request life`() {
        let contract = ProviderContract.reference
        #expect(contract.trap(sendWithin: .seconds(30), total: .seconds(89)) == nil)
        let trap = contract.trap(sendWithin: .seconds(31), total: .seconds(89))
        #expect(trap?.name == .requestsOutliveTheirLimit)
        #expect(trap?.explanation.contains("120000ms") == true)
    }

    @Test func `a status must outlive its proof`() {
        var contract = ProviderContract.reference
        contract.visibilityLag = .minutes(1)
        // It must not come and go between two inquiries, which are a day apart in the end.
        contract.statusRetention = .days(1) + .minutes(1) + .seconds(5)
        #expect(traps(contract) == [.statusForgottenBeforeProof])
        contract.statusRetention = .days(1) + .minutes(1) + .seconds(6)
        #expect(traps(contract).isEmpty)
        let hourly = SafetyAssumptions(longestInquiryPause: .seconds(10))
        contract.statusRetention = .minutes(3) + .seconds(5)
        #expect(contract.traps(under: hourly).map(\.name) == [.statusForgottenBeforeProof])
        contract.statusRetention = .minutes(3) + .seconds(6)
        #expect(contract.traps(under: hourly).isEmpty)
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

    /// Those that no contract alone falls into at its shortest lag.
    private func otherTraps() -> [ContractTrap] {
        var stale = ProviderContract.reference
        stale.visibilityLag = ProviderContract.unboundedLag
        var outlasting = ProviderContract.listed
        outlasting.visibilityLag = .days(1)
        var claim = RecoveryClaim(.restore, at: Timestamp(milliseconds: 0))
        claim.readsCountFrom = claim.at
        claim.acknowledgementsKept = true
        let late = ProviderContract.reference.trap(sendWithin: .hours(1), total: .hours(1))
        return [.randomKeys] + [late].compactMap { $0 } + stale.traps(under: plug) + outlasting.traps(under: plug)
            + claim.traps(contracts: [.reference])
    }

    @Test func `every trap has its own name and says what is allowed`() {
        var found: Set<ContractTrap.Name> = []
        for trap in otherTraps() {
            found.insert(trap.name)
            #expect(trap.explanation.count > 20)
        }
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
                    contract.refundVisibility = .sumsOnly
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
        #expect(ProviderContract.known.count == 7)
        #expect(ProviderContract.reference.safeResendAge == nil)
        #expect(ProviderContract.listed.safeResendAge == .hours(24) - .minutes(2) - .seconds(5))
        #expect(ProviderContract.listed.proofMargin == .minutes(1) + .seconds(5))
    }
}
