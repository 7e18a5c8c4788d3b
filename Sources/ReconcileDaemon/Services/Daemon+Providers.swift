import HTTPTransport
import Logging
import Metrics
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

extension AssembledProviders {
    /// Says whether a caller's new payment would find no room at a provider, and counts those that are refused so.
    var isCrowded: @Sendable (ProviderName, CallerID) -> Bool {
        let paths = paths
        return { name, caller in
            guard paths[name]?.promise(to: caller) == false else { return false }
            Counter(label: "reconciled_payments_shed", dimensions: [("provider", name.name)]).increment()
            return true
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
            let sender = provider.sender
            all.senders.append(sender)
            let assembly = ProviderAssembly(
                sender: sender, connections: provider.contract.concurrency, store: identity, clock: clock,
                clocks: clocks, logger: logger)
            let settings = try provider.settings(secrets.providers[provider.name])
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
}

extension Configuration.Provider {
    /// What its adapter is made of.
    ///
    /// - Parameter tokens: where its token comes from, if it is replaced while the process runs.
    func settings(_ tokens: ReplaceableToken? = nil) throws -> ProviderSettings {
        let address: ProviderAddress
        do {
            address = try ProviderAddress(url)
        } catch {
            throw CommandFailure(.usage, "provider \(name): url: \(error.reason)")
        }
        var breaker = Breaker.Settings()
        breaker.failurePercent = breakerFailurePercent
        breaker.openFor = breakerOpenFor.duration
        return ProviderSettings(
            name: name, adapter: adapter, address: address, contract: placedContract,
            tokens: tokens ?? ReplaceableToken(BearerToken(token)),
            limits: TimeLimits(
                connect: connect.duration, tls: tls.duration, firstByte: firstByte.duration, total: total.duration),
            breaker: breaker, conversion: conversion)
    }

    /// A wire of its own: neither connections nor the loop of one provider can hold another up.
    var sender: CurlSender {
        var wire = CurlConfiguration(
            maximumConnections: contract.concurrency, caBundlePath: caBundle, allowPlainHTTP: allowsPlainHTTP)
        wire.clientCertificate = clientCertificate
        return CurlSender(configuration: wire)
    }
}
