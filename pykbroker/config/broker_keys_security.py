"""Broker keys: TLS, SASL, authorization and delegation tokens."""

from __future__ import annotations

from typing import Final

from pykbroker.config.definition import (
    BOOLEAN,
    CLASS,
    DOUBLE,
    HIGH,
    INT,
    LIST,
    LONG,
    LOW,
    PASSWORD,
    PER_BROKER,
    SHORT,
    STRING,
    Key,
)
from pykbroker.config.validators import at_least, list_of, one_of

TLS: Final = "TLS listeners are not built yet"
SASL: Final = "SASL authentication is not built yet"
TOKENS: Final = "delegation tokens are not built yet"
ACLS: Final = "authorization is not built yet"

KEYS: Final = (
    Key("authorizer.class.name", STRING, "", importance=LOW).refused(
        "Java class that decides who may do what.", ACLS
    ),
    Key(
        "principal.builder.class",
        CLASS,
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
        mode=PER_BROKER,
    ).refused(
        "Java class that determines the principal of a connection.",
        "plug-ins written in Java cannot run in this broker",
    ),
    Key("security.providers", STRING, None, importance=LOW).refused(
        "Java security providers.", "plug-ins written in Java cannot run in this broker"
    ),
    Key("delegation.token.secret.key", PASSWORD, None).refused(
        "Secret that signs delegation tokens.", TOKENS
    ),
    Key("delegation.token.max.lifetime.ms", LONG, 604800000, at_least(1)).unused(
        "Longest life of a token.", TOKENS
    ),
    Key("delegation.token.expiry.time.ms", LONG, 86400000, at_least(1)).unused(
        "Time after which a token must be renewed.", TOKENS
    ),
    Key("delegation.token.expiry.check.interval.ms", LONG, 3600000, at_least(1), LOW).unused(
        "How often expired tokens are removed.", TOKENS
    ),
    Key("ssl.protocol", STRING, "TLSv1.3", mode=PER_BROKER).unused(
        "TLS version of the context.", TLS
    ),
    Key("ssl.provider", STRING, None, mode=PER_BROKER).unused("Java provider of TLS.", TLS),
    Key("ssl.cipher.suites", LIST, (), list_of(), mode=PER_BROKER).unused(
        "Cipher suites on offer.", TLS
    ),
    Key(
        "ssl.enabled.protocols",
        LIST,
        (
            "TLSv1.2",
            "TLSv1.3",
        ),
        list_of(),
        mode=PER_BROKER,
    ).unused("TLS versions on offer.", TLS),
    Key(
        "ssl.client.auth", STRING, "none", one_of("required", "requested", "none"), mode=PER_BROKER
    ).unused("Whether clients must show a certificate.", TLS),
    Key("ssl.keystore.type", STRING, "JKS", mode=PER_BROKER).unused(
        "Format of the key store.", TLS
    ),
    Key("ssl.keystore.location", STRING, None, mode=PER_BROKER).unused(
        "File of the key store.", TLS
    ),
    Key("ssl.keystore.password", PASSWORD, None, mode=PER_BROKER).unused(
        "Password of the key store.", TLS
    ),
    Key("ssl.key.password", PASSWORD, None, mode=PER_BROKER).unused(
        "Password of the private key.", TLS
    ),
    Key("ssl.keystore.key", PASSWORD, None, mode=PER_BROKER).unused(
        "Private key as PEM text.", TLS
    ),
    Key("ssl.keystore.certificate.chain", PASSWORD, None, mode=PER_BROKER).unused(
        "Certificate chain as PEM text.", TLS
    ),
    Key("ssl.truststore.type", STRING, "JKS", mode=PER_BROKER).unused(
        "Format of the trust store.", TLS
    ),
    Key("ssl.truststore.location", STRING, None, mode=PER_BROKER).unused(
        "File of the trust store.", TLS
    ),
    Key("ssl.truststore.password", PASSWORD, None, mode=PER_BROKER).unused(
        "Password of the trust store.", TLS
    ),
    Key("ssl.truststore.certificates", PASSWORD, None, mode=PER_BROKER).unused(
        "Trusted certificates as PEM text.", TLS
    ),
    Key("ssl.keymanager.algorithm", STRING, "SunX509", mode=PER_BROKER).unused(
        "Algorithm of the key manager.", TLS
    ),
    Key("ssl.trustmanager.algorithm", STRING, "PKIX", mode=PER_BROKER).unused(
        "Algorithm of the trust manager.", TLS
    ),
    Key(
        "ssl.endpoint.identification.algorithm", STRING, "https", importance=LOW, mode=PER_BROKER
    ).unused("How host names are checked against certificates.", TLS),
    Key("ssl.secure.random.implementation", STRING, None, importance=LOW, mode=PER_BROKER).unused(
        "Java source of randomness for TLS.", TLS
    ),
    Key("ssl.engine.factory.class", CLASS, None, importance=LOW, mode=PER_BROKER).unused(
        "Java class that makes TLS engines.", TLS
    ),
    Key("ssl.principal.mapping.rules", STRING, "DEFAULT", importance=LOW).unused(
        "Rules that turn certificate names into principals.", TLS
    ),
    Key("ssl.allow.dn.changes", BOOLEAN, False, importance=LOW).unused(
        "Whether a reloaded certificate may have another name.", TLS
    ),
    Key("ssl.allow.san.changes", BOOLEAN, False, importance=LOW).unused(
        "Whether a reloaded certificate may have other alternative names.", TLS
    ),
    Key("sasl.enabled.mechanisms", LIST, ("GSSAPI",), list_of(), mode=PER_BROKER).unused(
        "SASL mechanisms on offer.", SASL
    ),
    Key("sasl.jaas.config", PASSWORD, None, mode=PER_BROKER).unused(
        "Login settings of a mechanism.", SASL
    ),
    Key("sasl.mechanism.inter.broker.protocol", STRING, "GSSAPI", mode=PER_BROKER).unused(
        "Mechanism between brokers.", SASL
    ),
    Key("sasl.mechanism.controller.protocol", STRING, "GSSAPI", importance=HIGH).unused(
        "Mechanism towards controllers.", SASL
    ),
    Key("sasl.server.callback.handler.class", CLASS, None).unused(
        "Java class that checks credentials.", SASL
    ),
    Key("sasl.client.callback.handler.class", CLASS, None).unused(
        "Java class that supplies credentials.", SASL
    ),
    Key("sasl.login.callback.handler.class", CLASS, None).unused("Java class that logs in.", SASL),
    Key("sasl.login.class", CLASS, None).unused("Java class of the login.", SASL),
    Key("sasl.server.max.receive.size", INT, 524288).unused(
        "Largest SASL message before authentication.", SASL
    ),
    Key("sasl.kerberos.service.name", STRING, None, mode=PER_BROKER).unused(
        "Kerberos service name.", SASL
    ),
    Key("sasl.kerberos.kinit.cmd", STRING, "/usr/bin/kinit", mode=PER_BROKER).unused(
        "Path of kinit.", SASL
    ),
    Key("sasl.kerberos.ticket.renew.window.factor", DOUBLE, 0.8, mode=PER_BROKER).unused(
        "Share of a ticket's life after which it is renewed.", SASL
    ),
    Key("sasl.kerberos.ticket.renew.jitter", DOUBLE, 0.05, mode=PER_BROKER).unused(
        "Random part of the time of renewal.", SASL
    ),
    Key("sasl.kerberos.min.time.before.relogin", LONG, 60000, mode=PER_BROKER).unused(
        "Least time between logins.", SASL
    ),
    Key(
        "sasl.kerberos.principal.to.local.rules", LIST, ("DEFAULT",), list_of(), mode=PER_BROKER
    ).unused("Rules that turn Kerberos principals into short names.", SASL),
    Key("sasl.login.refresh.window.factor", DOUBLE, 0.8, mode=PER_BROKER).unused(
        "Share of a credential's life after which it is refreshed.", SASL
    ),
    Key("sasl.login.refresh.window.jitter", DOUBLE, 0.05, mode=PER_BROKER).unused(
        "Random part of the time of refreshing.", SASL
    ),
    Key("sasl.login.refresh.min.period.seconds", SHORT, 60, mode=PER_BROKER).unused(
        "Least time between refreshes.", SASL
    ),
    Key("sasl.login.refresh.buffer.seconds", SHORT, 300, mode=PER_BROKER).unused(
        "Time before expiry that a refresh keeps free.", SASL
    ),
    Key("sasl.login.connect.timeout.ms", INT, None, importance=LOW).unused(
        "Timeout of connecting to the identity provider.", SASL
    ),
    Key("sasl.login.read.timeout.ms", INT, None, importance=LOW).unused(
        "Timeout of reading from the identity provider.", SASL
    ),
    Key("sasl.login.retry.backoff.ms", LONG, 100, importance=LOW).unused(
        "First pause before a login is tried again.", SASL
    ),
    Key("sasl.login.retry.backoff.max.ms", LONG, 10000, importance=LOW).unused(
        "Longest pause before a login is tried again.", SASL
    ),
)
