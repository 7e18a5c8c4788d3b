extension DemoRun {
    /// Who delivers notifications; `nil` where every provider can be asked.
    var courier: Courier? {
        let providers = DemoProvider.allCases.filter { options.adapter.wire(of: $0) == .adyen }
        guard !providers.isEmpty else { return nil }
        return Courier(
            sender: sender, simulator: simulator, daemon: "http://127.0.0.1:\(directory.publicPort)",
            providers: providers, seed: options.seed)
    }

    /// Does something while notifications are delivered.
    func beside<Result: Sendable>(
        _ courier: Courier?, _ body: @Sendable @escaping () async throws -> Result
    ) async throws -> Result {
        guard let courier else { return try await body() }
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                try await courier.carry()
                return nil
            }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            while let ended = try await group.next() {
                if let result = ended { return result }
            }
            throw CancellationError()
        }
    }
}
