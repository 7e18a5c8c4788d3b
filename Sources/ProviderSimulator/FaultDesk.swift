import Synchronization

/// How a provider that is down greets a connection.
public enum DownMode: String, Codable, Sendable {
    /// Closes it without an answer.
    case close
    /// 503 with `Retry-After`.
    case unavailable
}

/// What faults are ordered at one provider, as the control API shows it.
public struct FaultState: Codable, Sendable, Equatable {
    /// An order with what is left of it.
    public struct Standing: Codable, Sendable, Equatable {
        /// Names the order.
        public let id: Int
        /// What is left: `times` and `skip` count down.
        public let order: FaultOrder
    }

    /// Orders that are not used up, in the order in which they are tried.
    public var orders: [Standing] = []
    /// Faults by chance.
    public var rates: [FaultRate] = []
    /// Until when the provider is down, milliseconds since 1970 by the simulator's clock.
    public var downUntil: Int64?
    /// How it is down.
    public var downMode = DownMode.close

    private enum CodingKeys: String, CodingKey {
        case orders, rates
        case downUntil = "down_until"
        case downMode = "down_mode"
    }
}

/// Keeps the orders and rates of all providers, and says of each request what it suffers.
///
/// Orders live in memory: a simulator that was killed comes back with the rates of its configuration and no
/// orders.
final class FaultDesk: Sendable {
    private struct State {
        var providers: [String: FaultState] = [:]
        var nextOrder = 1
    }

    private let chance: SeededChance
    private let state: Mutex<State>

    init(seed: UInt64, rates: [String: [FaultRate]]) {
        chance = SeededChance(seed: seed)
        var initial = State()
        for (provider, rates) in rates { initial.providers[provider] = FaultState(rates: rates) }
        state = Mutex(initial)
    }

    func add(_ order: FaultOrder, provider: String) -> Int {
        state.withLock { state in
            let id = state.nextOrder
            state.nextOrder += 1
            state.providers[provider, default: FaultState()].orders.append(.init(id: id, order: order))
            return id
        }
    }

    func change(_ provider: String, _ change: (inout FaultState) -> Void) {
        state.withLock { change(&$0.providers[provider, default: FaultState()]) }
    }

    func show(_ provider: String) -> FaultState {
        state.withLock { $0.providers[provider] ?? FaultState() }
    }

    /// How the provider is down at this instant of the simulator's clock, or nil.
    func down(_ provider: String, at now: Int64) -> DownMode? {
        state.withLock { state in
            guard let faults = state.providers[provider], let until = faults.downUntil, now < until else {
                return nil
            }
            return faults.downMode
        }
    }

    /// What the request suffers: the first order that matches and is not used up, else what the seed says.
    /// - Parameter attempt: counts the requests of this operation under this key, from 1.
    func decide(_ request: ProviderRequest, attempt: Int64) -> Fault? {
        state.withLock { state in
            guard var faults = state.providers[request.provider] else { return nil }
            defer { state.providers[request.provider] = faults }
            if let ordered = take(request, from: &faults.orders) { return ordered }
            let rates = faults.rates.filter { $0.applies(to: request.operation) }
            guard !rates.isEmpty else { return nil }
            var draw = chance.draw(
                "fault", request.provider, request.operation, request.key + "/" + request.entryKey,
                attempt: attempt)
            for rate in rates {
                if draw < rate.rate { return rate.fault }
                draw -= rate.rate
            }
            return nil
        }
    }

    /// For a decline by chance, in 0..<1.
    func declineChance(_ request: ProviderRequest, attempt: Int64) -> Double {
        chance.draw("decline", request.provider, request.operation, request.key, attempt: attempt)
    }

    private func take(_ request: ProviderRequest, from orders: inout [FaultState.Standing]) -> Fault? {
        for index in orders.indices where orders[index].order.matches(request) {
            var order = orders[index].order
            if order.skip > 0 {
                order.skip -= 1
                orders[index] = .init(id: orders[index].id, order: order)
                continue
            }
            order.times -= 1
            if order.times == 0 {
                orders.remove(at: index)
            } else {
                orders[index] = .init(id: orders[index].id, order: order)
            }
            return order.fault
        }
        return nil
    }
}
