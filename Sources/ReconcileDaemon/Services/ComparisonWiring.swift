import OperationsConsole
import PaymentAPI
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

extension OperatorComparisons {
    /// Answers from a desk.
    init(desk: ComparisonDesk) {
        let routes = ComparisonRoutes(desk: desk)
        self.init { operation, request in
            switch operation {
            case .listRuns: await routes.runs(query: request.query)
            case .planRun: await routes.plan(query: request.query, body: request.body)
            case .readRun: await routes.run(request.id, query: request.query)
            case .listFindings: await routes.findings(of: request.id, query: request.query)
            case .abandonRun: await routes.abandon(request.id, query: request.query)
            case .listDiscrepancies: await routes.discrepancies(query: request.query)
            case .readDiscrepancy: await routes.discrepancy(request.id, query: request.query)
            case .assign:
                await routes.assign(request.id, query: request.query, body: request.body, by: request.person)
            case .comment:
                await routes.comment(request.id, query: request.query, body: request.body, by: request.person)
            case .close:
                await routes.close(request.id, query: request.query, body: request.body, by: request.person)
            }
        }
    }
}

extension OperatorSite {
    /// Answers from a desk.
    init(desk: SiteDesk, drainLimit: Span = .seconds(10)) {
        let routes = SiteRoutes(desk: desk, drainLimit: drainLimit)
        self.init { operation, request in
            switch operation {
            case .read: await routes.site(query: request.query)
            case .promote:
                await routes.promote(
                    query: request.query, body: request.body, by: request.person, approver: request.approver)
            case .drain: await routes.drain(query: request.query)
            case .demote: await routes.demote(query: request.query)
            case .setMode: await routes.mode(query: request.query, body: request.body)
            }
        }
    }
}

extension OperationsDescriptions {
    /// The descriptions that this build was made with.
    static var shipped: OperationsDescriptions {
        OperationsDescriptions(
            operations: PackageResources.operations_yaml, payments: PackageResources.payments_yaml)
    }
}
