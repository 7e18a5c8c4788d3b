import OperationsConsole
import PaymentCore
import Reconciler

extension ComparisonDesk {
    /// The desk of a configuration; `nil` if the store keeps no comparisons.
    init?(store: any PaymentStore, configuration: Configuration) {
        guard let store = store as? any PaymentStore & ComparisonStore else { return nil }
        self.init(
            store: store, contracts: configuration.contracts, settings: configuration.comparison.settings,
            isEnabled: configuration.comparison.isEnabled, people: configuration.operators.map(\.name))
    }
}

extension OperationsDescriptions {
    /// The descriptions that this build was made with.
    static var shipped: OperationsDescriptions {
        OperationsDescriptions(
            operations: PackageResources.operations_yaml, payments: PackageResources.payments_yaml)
    }
}
