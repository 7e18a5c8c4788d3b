import ArgumentParser
import PaymentCore
import ProgramEdge
import Testing

@testable import ReconcileDaemon

@Suite struct ContractTrialsTests {
    /// Besides these: `phases` may not differ; key format, both rates and concurrency change no decision.
    /// A key space is where the contract holds.
    @Test func `every key of a contract on which a decision may rest is compared`() {
        let properties = Mirror(reflecting: ProviderContract.reference).children.count
        #expect(ContractTrials.keys.count == properties - 6, "a new key: add it to ContractTrials.keys, or here")
        #expect(Set(ContractTrials.keys.map(\.name)).count == ContractTrials.keys.count)
        var other = ProviderContract.reference
        other.keyRetention = .hours(12)
        other.cancel = .none
        other.clockSkew = .seconds(7)
        let differing = ContractTrials.keys.filter { $0.value(.reference) != $0.value(other) }
        #expect(differing.map(\.name) == ["key_retention", "cancel", "clock_skew"])
        #expect(differing.map { $0.value(other) } == ["12h", "none", "7s"])
    }

    @Test func `options that make no sense together are refused with what is allowed`() throws {
        func refusal(_ words: [String], isReplay: Bool = false, hasID: Bool = false) -> String? {
            do {
                _ = try ContractTrialOptions.parse(words).checkedFile(isReplay: isReplay, hasID: hasID)
                return nil
            } catch { return (error as? CommandFailure)?.message ?? "\(error)" }
        }
        #expect(refusal([]) == nil)
        #expect(refusal(["--what-if", "c.yaml", "--last", "1"]) == nil)
        #expect(refusal(["--last", "5"])?.contains("allowed with --what-if only") == true)
        #expect(refusal(["--what-if", "c.yaml"], isReplay: true)?.contains("not allowed together") == true)
        let one = refusal(["--what-if", "c.yaml", "--last", "5"], hasID: true)
        #expect(one?.contains("without a payment's id") == true)
        for last in ["0", "100001"] {
            #expect(refusal(["--what-if", "c.yaml", "--last", last])?.contains("allowed: 1 to 100000") == true)
        }
    }
}
