import Synchronization

/// The contracts of all providers.
///
/// Their clocks can be set while they run.
final class ContractDesk: Sendable {
    private let contracts: Mutex<[String: ContractOptions]>

    init(_ contracts: [String: ContractOptions]) {
        self.contracts = Mutex(contracts)
    }

    var providers: [String] {
        contracts.withLock { $0.keys.sorted() }
    }

    func options(of provider: String) throws(SimulatorError) -> ContractOptions {
        guard let options = contracts.withLock({ $0[provider] }) else {
            throw SimulatorError(.unknownProvider, provider)
        }
        return options
    }

    func change(_ provider: String, _ change: (inout ContractOptions) -> Void) throws(SimulatorError) {
        let known = contracts.withLock { contracts in
            guard var options = contracts[provider] else { return false }
            change(&options)
            contracts[provider] = options
            return true
        }
        guard known else { throw SimulatorError(.unknownProvider, provider) }
    }
}
