import HTTPTransport
import Logging
import PaymentCore
import ProgramEdge
import Providers
import Reconciler

/// The providers of the configuration, ready to be asked.
struct AssembledProviders {
    /// Why an amount cannot be told to a provider; `nil` where it can.
    typealias AmountCheck = @Sendable (ProviderName, Money) -> String?

    var providers: [any PaymentProvider] = []
    /// The wires, which are closed when the process stops.
    var senders: [CurlSender] = []
    /// What stands between us and each provider's wire.
    var paths: [ProviderName: ProviderAssembly.Assembled] = [:]

    /// Judges amounts by the units in which a provider counts.
    var amountCheck: AmountCheck {
        let known = paths.mapValues(\.provider)
        return { name, amount in
            guard let provider = known[name] else { return nil }
            do throws(UnconvertibleAmount) {
                try provider.validate(amount)
                return nil
            } catch {
                return switch error.reason {
                case .notExact: "\(amount) is not a whole number of the provider's units"
                case .currency: "the provider does not take \(amount.currency)"
                case .tooLarge: "\(amount) is more than the provider can be told"
                }
            }
        }
    }
}

extension Daemon {
    /// Puts every provider of the configuration together.
    func assembleProviders(
        _ identity: StoreID?, _ clock: any WallClock, _ clocks: ProviderClockWatch, _ logger: Logger
    ) throws -> AssembledProviders {
        var all = AssembledProviders()
        for provider in configuration.providers {
            // A sender for each: neither connections nor the loop of one provider can hold another up.
            let sender = CurlSender(
                configuration: CurlConfiguration(
                    maximumConnections: provider.contract.concurrency, caBundlePath: provider.caBundle,
                    allowPlainHTTP: provider.allowsPlainHTTP))
            all.senders.append(sender)
            let assembly = ProviderAssembly(
                sender: sender, connections: provider.contract.concurrency, store: identity, clock: clock,
                clocks: clocks, logger: logger)
            let settings = try settings(provider)
            guard let assembled = try assembly.assemble([settings])[provider.name] else { continue }
            all.providers.append(assembled.provider)
            all.paths[provider.name] = assembled
        }
        return all
    }

    /// What takes the notifications of those providers that are configured with a secret.
    func notifications(
        _ store: any PaymentStore, _ operations: any PaymentOperations, _ clock: any WallClock
    ) -> ProviderNotifications {
        var readers: [ProviderName: any NotificationReader] = [:]
        for provider in configuration.providers where !provider.notificationSecrets.isEmpty {
            guard let known = secrets.notifications[provider.name] else { continue }
            readers[provider.name] = provider.adapter.notificationReader(known)
        }
        return ProviderNotifications(readers: readers, store: store, operations: operations, clock: clock)
    }

    private func settings(_ provider: Configuration.Provider) throws -> ProviderSettings {
        let address: ProviderAddress
        do {
            address = try ProviderAddress(provider.url)
        } catch {
            throw CommandFailure(.usage, "provider \(provider.name): url: \(error.reason)")
        }
        var breaker = Breaker.Settings()
        breaker.failurePercent = provider.breakerFailurePercent
        breaker.openFor = provider.breakerOpenFor.duration
        return ProviderSettings(
            name: provider.name, adapter: provider.adapter, address: address, contract: provider.contract,
            tokens: secrets.providers[provider.name] ?? ReplaceableToken(BearerToken(provider.token)),
            limits: TimeLimits(
                connect: provider.connect.duration, tls: provider.tls.duration,
                firstByte: provider.firstByte.duration, total: provider.total.duration),
            breaker: breaker, conversion: provider.conversion)
    }
}
