public import Hummingbird
internal import HummingbirdCore
public import Logging
internal import NIOCore
public import PaymentCore
public import Reconciler

/// The API that callers use: payments and operations on them, with idempotent replay, over the use cases of
/// `PaymentOperations`.
public struct CallerAPI: Sendable {
    private let responder: APIResponder
    private let limits: APILimits
    private let logger: Logger

    /// Puts the API together.
    /// - Parameters:
    ///   - operations: The use cases.
    ///   - callers: Who may call.
    ///   - contracts: What each configured provider can do.
    ///   - amountCheck: Why a provider cannot take an amount (an adapter's conversion), `nil` if it can.
    ///   - limits: How much is accepted.
    ///   - description: The published description, served at `/openapi.yaml`.
    ///   - clock: What deadlines and `Retry-After` are judged by.
    ///   - logger: Gets one line for each request.
    public init(
        operations: any PaymentOperations, callers: CallerDirectory,
        contracts: [ProviderName: ProviderContract],
        amountCheck: @escaping @Sendable (ProviderName, Money) -> String?, limits: APILimits = APILimits(),
        description: [UInt8], clock: any WallClock, logger: Logger
    ) {
        self.limits = limits
        self.logger = logger
        responder = APIResponder(
            operations: operations, callers: callers,
            routes: OperationRoutes(
                operations: operations, contracts: contracts, amountCheck: amountCheck, limits: limits,
                clock: clock),
            limits: limits, description: description,
            gate: RequestGate(limit: limits.maximumConcurrentRequests), logger: logger)
    }

    /// The listener as a service. It ends when it is cancelled or shut down gracefully; requests that are
    /// being answered are answered first.
    /// - Parameters:
    ///   - host: The address to listen on.
    ///   - port: The port; 0 for any that is free.
    ///   - onServerRunning: Is told the port once requests are accepted.
    public func application(
        host: String, port: Int, onServerRunning: @escaping @Sendable (Int) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        let decoder = HTTP1Channel.Configuration.DecoderConfiguration(
            maxHeaderFieldSize: limits.maximumHeaderFieldBytes, maxHeaderListSize: limits.maximumHeaderBytes,
            maxHeaderFieldCount: limits.maximumHeaderFields)
        let linger = TimeAmount(limits.linger)
        let server = HTTPServerBuilder.http1(
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [CloseAfterAnswer(linger: linger)],
                idleTimeout: TimeAmount(limits.idleTimeout), httpDecoderConfiguration: decoder))
        return Application(
            responder: responder, server: server,
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port), serverName: nil,
                availableConnectionsDelegate: .maximum(limits.maximumConnections, logger: logger)),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { await onServerRunning(port) }
            }, logger: logger)
    }
}
