import PaymentCore
import ProviderSimulator
import SeededChance

/// A simulated provider whose properties were drawn by chance.
struct DrawnProvider {
    let name: String
    let phases: ProviderContract.Phases
    let options: ContractOptions
    /// How late reads show what happened.
    let lag: Span
    /// Whether its declines are decided anew, and then approved.
    let declinesPass: Bool

    init(seed: UInt64) {
        var chance = SeededChance(seed: seed)
        name = "p\(seed)"
        phases = chance.happens(percent: 50) ? .sale : .authorizeCapture
        var options = ContractOptions()
        options.tombstoning = chance.happens(percent: 50)
        options.notAfterEnforced = chance.happens(percent: 50)
        options.voidReversesSale = phases == .sale && chance.happens(percent: 50)
        options.authorizationLifeMs = Int64(chance.below(7) + 1) * 86_400_000
        options.keyRetentionMs = [nil, nil, 90_000, 3_600_000][chance.below(4)]
        options.clockOffsetMs = Int64([0, 0, 7_200, -7_200][chance.below(4)]) * 1_000
        declinesPass = chance.happens(percent: 50)
        options.declinesBound = !declinesPass
        lag = .milliseconds(Int64([0, 0, 700, 3_000][chance.below(4)]))
        // Drawn last, so that each seed keeps the rest of its provider.
        options.listing = chance.happens(percent: 75)
        options.refundKeys = chance.happens(percent: 75)
        self.options = options
    }

    /// How the simulator plays it.
    var configuration: ProviderConfiguration {
        var late = Fault(.staleInquiry)
        late.staleMs = lag.milliseconds
        let writes: [ProviderSimulator.Operation] = [.authorize, .sale, .capture, .refund, .void]
        return ProviderConfiguration(
            name, contract: options, rates: lag == .zero ? [] : [FaultRate(late, rate: 1, operations: writes)])
    }

    /// What somebody believes who believes the best of everything.
    var believed: ProviderContract { phases == .sale ? .referenceSale : .reference }

    var declinedInstrument: String { declinesPass ? "decline-unbound-0001" : "decline-0001" }
}
