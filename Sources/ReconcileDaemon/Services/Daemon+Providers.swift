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
    fileprivate var conversions: [ProviderName: AmountConversion] = [:]

    /// Judges amounts by the units in which a provider counts.
    var amountCheck: AmountCheck {
        let known = conversions
        return { name, amount in
            guard let conversion = known[name] else { return nil }
            do {
                _ = try conversion.units(for: amount)
                return nil
            } catch {
                return "\(amount) is not a whole number of the provider's units"
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
            all.conversions[provider.name] = settings.conversion
            guard let assembled = try assembly.assemble([settings])[provider.name] else { continue }
            all.providers.append(assembled.provider)
            all.paths[provider.name] = assembled
        }
        return all
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
            name: provider.name, address: address, contract: provider.contract,
            tokens: secrets.providers[provider.name] ?? ReplaceableToken(BearerToken(provider.token)),
            limits: TimeLimits(
                connect: provider.connect.duration, tls: provider.tls.duration,
                firstByte: provider.firstByte.duration, total: provider.total.duration),
            breaker: breaker, conversion: provider.conversion)
    }
}
