import ProgramEdge
import Testing

@testable import ReconcileDaemon

@Suite struct DescriptorBudgetTests {
    /// One provider with 64 connections, a file, and 256 operators' connections.
    private func configuration(_ more: String = "") throws -> Configuration {
        try ConfigurationTests().read(ConfigurationTests.minimal + more)
    }

    @Test func `callers have what is configured, or what the others leave`() throws {
        let many = try DescriptorBudget(configuration(), available: 20_000)
        #expect(many.callers == 4_096)
        #expect(many.requests(configured: 2_048) == 2_048)
        let few = try DescriptorBudget(configuration(), available: 1_024)
        #expect(few.store + few.providers + few.operators + few.rest + few.callers + 16 == 1_024)
        #expect(few.requests(configured: 2_048) < few.callers)
        let set = try DescriptorBudget(
            configuration("\nhttp: {max_connections: 100}\nadmin: {max_connections: 32}"), available: 1_024)
        #expect(set.callers == 100 && set.operators == 48)
    }

    @Test func `too few are a failure that says how many there must be`() throws {
        let configuration = try configuration()
        let least = try #require(
            (1...1_024).first { (try? DescriptorBudget(configuration, available: $0)) != nil })
        #expect(throws: CommandFailure.self) { try DescriptorBudget(configuration, available: least - 1) }
        do {
            _ = try DescriptorBudget(configuration, available: 64)
        } catch {
            #expect("\(error)".contains("of at least \(least)"), "\(error)")
        }
    }

    @Test func `check-config says both limits, and what they cost`() throws {
        let configuration = try configuration()
        let limits = DescriptorLimits(soft: 256, hard: 1_024)
        let budget = try DescriptorBudget(configuration, available: limits.available)
        let lines = budget.summary(limits, configuration)
        #expect(lines.first?.hasPrefix("file descriptors: soft limit 256, hard limit 1024") == true, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("callers: \(budget.callers) connections instead of 4096") }, "\(lines)")
        #expect(lines.contains { $0.contains("requests at a time instead of 2048") }, "\(lines)")
    }
}
