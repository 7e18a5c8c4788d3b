import PaymentCore
import Testing

@Suite struct RecoveryWindowTests {
    let fixture: Fixture
    let at = Timestamp(milliseconds: 1_790_000_000_000)
    let after = Span.milliseconds(1)

    init() throws { fixture = try Fixture() }

    private func contract(life: Span, lag: Span, skew: Span) -> ProviderContract {
        var contract = ProviderContract.reference
        contract.maxRequestLife = life
        contract.visibilityLag = lag
        contract.clockSkew = skew
        return contract
    }

    @Test func `where acknowledged rows are kept, reads count once they show what was done by then`() {
        let window = RecoveryWindow.opened(
            by: .promotion, at: at, contracts: [contract(life: .minutes(2), lag: .seconds(20), skew: .seconds(5))])
        #expect(window.readsCountFrom == at + .seconds(25) + after)
        #expect(window.latestNotAfter == at + .minutes(2) + .seconds(5))
        #expect(!window.listingCompared)
    }

    @Test(arguments: [RecoveryWindow.Loss.restore, .asynchronousPromotion])
    func `where they are not, reads count once every lost request is dead and seen`(_ loss: RecoveryWindow.Loss) {
        let window = RecoveryWindow.opened(
            by: loss, at: at, contracts: [contract(life: .minutes(2), lag: .seconds(20), skew: .seconds(5))])
        #expect(window.readsCountFrom == at + .minutes(2) + .seconds(25) + after)
        #expect(window.latestNotAfter == at + .minutes(2) + .seconds(5))
    }

    @Test(arguments: RecoveryWindow.Loss.allCases)
    func `the longest bound of all providers counts, and of those that were there before`(
        _ loss: RecoveryWindow.Loss
    ) {
        let contracts = [
            contract(life: .minutes(9), lag: .zero, skew: .seconds(1)),
            contract(life: .minutes(2), lag: .minutes(3), skew: .seconds(2)),
            contract(life: .minutes(1), lag: .zero, skew: .seconds(7)),
        ]
        let now = RecoveryWindow.opened(by: loss, at: at, contracts: contracts)
        #expect(now.latestNotAfter == at + .minutes(9) + .seconds(7))
        let kept = loss == .promotion
        #expect(now.readsCountFrom == at + (kept ? .minutes(3) : .minutes(12)) + .seconds(7) + after)
        let before = RecoveryWindow.opened(by: loss, at: at, contracts: contracts, longestRequestLife: .hours(1))
        #expect(before.latestNotAfter == at + .hours(1) + .seconds(7))
        #expect(before.readsCountFrom == at + .minutes(3) + (kept ? .zero : .hours(1)) + .seconds(7) + after)
        let shorter = RecoveryWindow.opened(by: loss, at: at, contracts: contracts, longestRequestLife: .seconds(1))
        #expect(shorter == now)
    }

    @Test func `no window of any loss lets reads count before the moment of the loss`() {
        for loss in RecoveryWindow.Loss.allCases {
            let window = RecoveryWindow.opened(by: loss, at: at, contracts: [])
            #expect(window.readsCountFrom == at + after)
            #expect(window.latestNotAfter == at)
        }
    }

    @Test func `a claim that begins its reads too early is refused with the earliest moment`() {
        var claim = RecoveryClaim(.restore, at: at)
        let earliest = claim.window(contracts: [.reference]).readsCountFrom
        claim.readsCountFrom = earliest + .milliseconds(-1)
        let traps = claim.traps(contracts: [.reference])
        #expect(traps.map(\.name) == [.recoveryReadsTooEarly])
        #expect(traps.first?.explanation.contains(earliest.rfc3339) == true)
        #expect(traps.first?.explanation.contains("W3") == true)
        #expect(claim.window(contracts: [.reference]).readsCountFrom == earliest)
        claim.readsCountFrom = earliest + .hours(1)
        #expect(claim.traps(contracts: [.reference]).isEmpty)
        #expect(claim.window(contracts: [.reference]).readsCountFrom == earliest + .hours(1))
    }

    @Test(arguments: RecoveryWindow.Loss.allCases)
    func `only a synchronous standby keeps what was acknowledged`(_ loss: RecoveryWindow.Loss) {
        var claim = RecoveryClaim(loss, at: at)
        claim.acknowledgementsKept = true
        let names = claim.traps(contracts: [.reference]).map(\.name)
        #expect(names == (loss == .promotion ? [] : [.recoveryCountsAcknowledgements]))
    }

    @Test func `a promotion that nobody vouches for is an asynchronous one`() {
        var claim = RecoveryClaim(.promotion, at: at)
        #expect(!claim.storeIsAsynchronous)
        claim.acknowledgementsKept = false
        #expect(claim.storeIsAsynchronous)
        let asynchronous = RecoveryClaim(.asynchronousPromotion, at: at)
        #expect(claim.window(contracts: [.reference]) == asynchronous.window(contracts: [.reference]))
        claim.readsCountFrom = at + .minutes(1)
        #expect(claim.traps(contracts: [.reference]).map(\.name) == [.recoveryReadsTooEarly])
    }

    private func payment(in window: RecoveryWindow?) throws -> Payment {
        let context = MachineContext(now: fixture.start, contracts: try fixture.byName([.reference]))
        return PaymentMachine.create(try fixture.request([.reference]), context, recovery: window).machine.payment
    }

    @Test func `a payment enters a window once`() throws {
        let window = RecoveryWindow.opened(by: .restore, at: at, contracts: [.reference])
        #expect(window.needed(by: try payment(in: nil)) == window)
        #expect(window.needed(by: try payment(in: window)) == nil)
        var wider = window
        wider.readsCountFrom = window.readsCountFrom + .seconds(1)
        #expect(window.needed(by: try payment(in: wider)) == nil)
    }

    @Test func `rows that are lost again widen the window, never narrow it`() throws {
        let first = RecoveryWindow(readsCountFrom: at, latestNotAfter: at + .hours(1), listingCompared: true)
        let second = RecoveryWindow(readsCountFrom: at + .minutes(1), latestNotAfter: at + .minutes(2))
        let both = try #require(second.needed(by: try payment(in: first)))
        #expect(both.readsCountFrom == second.readsCountFrom)
        #expect(both.latestNotAfter == first.latestNotAfter)
        #expect(!both.listingCompared)
        #expect(first.needed(by: try payment(in: both)) == nil)
        #expect(second.needed(by: try payment(in: both)) == nil)
    }

    @Test func `a comparison of the listings is told once, and not taken back`() throws {
        let window = RecoveryWindow.opened(by: .restore, at: at, contracts: [.reference])
        var compared = window
        compared.listingCompared = true
        #expect(compared.needed(by: try payment(in: window)) == compared.heard)
        #expect(window.needed(by: try payment(in: compared)) == nil)
        #expect(compared.needed(by: try payment(in: compared)) == nil)
        // It was compared over less than this payment's window.
        var wider = window
        wider.latestNotAfter = window.latestNotAfter + .hours(1)
        #expect(compared.needed(by: try payment(in: wider)) == nil)
    }

    @Test func `a payment that waits for the comparison hears of it although the window was closed meanwhile`() throws {
        let window = RecoveryWindow.opened(by: .restore, at: at, contracts: [.reference])
        var compared = window
        compared.listingCompared = true
        let closed: RecoveryWindow? = nil
        #expect(closed.claim(of: try payment(in: window)) == .claimedAfterLoss(compared.heard))
        #expect(closed.opening(for: try payment(in: window)) == .recoveryOpened(compared.heard))
        #expect(closed.claim(of: try payment(in: compared)) == .claimed)
        #expect(closed.opening(for: try payment(in: compared)) == nil)
    }

    @Test func `a final payment enters no window`() throws {
        var stage = try fixture.stage([.reference])
        stage.run()
        #expect(stage.durable.state == .succeeded)
        let window = RecoveryWindow.opened(by: .restore, at: at, contracts: [.reference])
        #expect(window.needed(by: stage.durable) == nil)
    }
}
