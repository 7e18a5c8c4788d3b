import ArgumentParser
import BulkBooks
import Foundation
import PaymentCore
import PostgresStore
import ProviderSimulator
import Reconciler

/// Writes books that agree with what a provider simulator made in bulk.
@main
struct BulkBooksWriter: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bulk-books-writer",
        abstract: "Fills a migrated database with the payments of a simulator's bulk order.")

    @Option(help: "A postgres:// address or libpq's key words.") var postgres: String
    @Option(help: "The schema.") var schema = "reconciled"
    @Option(help: "The provider.") var provider = "card"
    @Option(help: "The bulk order, as JSON: the member order of the simulator's answer.") var order: String

    func run() async throws {
        let order = try JSONDecoder().decode(BulkOrder.self, from: Data(order.utf8))
        var configuration = try PostgresStoreConfiguration(dsn: postgres)
        configuration.schema = schema
        configuration.writers = 4
        let store = try await PostgresStore(configuration)
        let books = BulkBooks(order: order, provider: try ProviderName(provider), contract: .reference)
        try await books.fill(store)
        await store.close()
    }
}
