"""Broker keys: SASL/OAUTHBEARER."""

from __future__ import annotations

from typing import Final

from pykbroker.config.definition import (
    BOOLEAN,
    CLASS,
    HIGH,
    INT,
    LIST,
    LONG,
    LOW,
    PASSWORD,
    STRING,
    Key,
)
from pykbroker.config.validators import between, list_of, one_of_any_case

SASL: Final = "SASL authentication is not built yet"

KEYS: Final = (
    Key("sasl.oauthbearer.scope.claim.name", STRING, "scope", importance=LOW).unused(
        "Claim that holds the scope.", SASL
    ),
    Key("sasl.oauthbearer.sub.claim.name", STRING, "sub", importance=LOW).unused(
        "Claim that holds the subject.", SASL
    ),
    Key("sasl.oauthbearer.token.endpoint.url", STRING, None).unused(
        "Where tokens are fetched.", SASL
    ),
    Key("sasl.oauthbearer.jwks.endpoint.url", STRING, None).unused(
        "Where signing keys are fetched.", SASL
    ),
    Key("sasl.oauthbearer.jwks.endpoint.refresh.ms", LONG, 3600000, importance=LOW).unused(
        "How often signing keys are fetched again.", SASL
    ),
    Key("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", LONG, 100, importance=LOW).unused(
        "First pause before fetching keys is tried again.", SASL
    ),
    Key("sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", LONG, 10000, importance=LOW).unused(
        "Longest pause before fetching keys is tried again.", SASL
    ),
    Key("sasl.oauthbearer.clock.skew.seconds", INT, 30, importance=LOW).unused(
        "Difference of clocks that is allowed.", SASL
    ),
    Key("sasl.oauthbearer.expected.audience", LIST, (), list_of(), HIGH).unused(
        "Audiences that a token may be for.", SASL
    ),
    Key("sasl.oauthbearer.expected.issuer", STRING, None, importance=HIGH).unused(
        "Issuer that a token must have.", SASL
    ),
    Key("sasl.oauthbearer.allow.unverified.audience", BOOLEAN, False).unused(
        "Whether tokens pass without an expected audience.", SASL
    ),
    Key("sasl.oauthbearer.allow.unverified.issuer", BOOLEAN, False).unused(
        "Whether tokens pass without an expected issuer.", SASL
    ),
    Key(
        "sasl.oauthbearer.jwt.retriever.class",
        CLASS,
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
    ).unused("Java class that fetches tokens.", SASL),
    Key(
        "sasl.oauthbearer.jwt.validator.class",
        CLASS,
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
    ).unused("Java class that checks tokens.", SASL),
    Key("sasl.oauthbearer.scope", STRING, None).unused("Scope that is asked for.", SASL),
    Key("sasl.oauthbearer.client.credentials.client.id", STRING, None).unused(
        "Client id of the credentials grant.", SASL
    ),
    Key("sasl.oauthbearer.client.credentials.client.secret", PASSWORD, None).unused(
        "Client secret of the credentials grant.", SASL
    ),
    Key(
        "sasl.oauthbearer.assertion.algorithm", STRING, "RS256", one_of_any_case("ES256", "RS256")
    ).unused("Algorithm that signs assertions.", SASL),
    Key("sasl.oauthbearer.assertion.claim.aud", STRING, None).unused(
        "Audience of assertions.", SASL
    ),
    Key("sasl.oauthbearer.assertion.claim.exp.seconds", INT, 300, between(0, 86400), LOW).unused(
        "Life of assertions.", SASL
    ),
    Key("sasl.oauthbearer.assertion.claim.iss", STRING, None).unused("Issuer of assertions.", SASL),
    Key("sasl.oauthbearer.assertion.claim.jti.include", BOOLEAN, False).unused(
        "Whether assertions carry an id.", SASL
    ),
    Key("sasl.oauthbearer.assertion.claim.nbf.seconds", INT, 60, between(0, 3600), LOW).unused(
        "How far assertions are valid back in time.", SASL
    ),
    Key("sasl.oauthbearer.assertion.claim.sub", STRING, None).unused(
        "Subject of assertions.", SASL
    ),
    Key("sasl.oauthbearer.assertion.file", STRING, None).unused("File of a ready assertion.", SASL),
    Key("sasl.oauthbearer.assertion.private.key.file", STRING, None).unused(
        "File of the key that signs assertions.", SASL
    ),
    Key("sasl.oauthbearer.assertion.private.key.passphrase", PASSWORD, None).unused(
        "Passphrase of that key.", SASL
    ),
    Key("sasl.oauthbearer.assertion.template.file", STRING, None).unused(
        "File with further claims of assertions.", SASL
    ),
)
