"""Client of the Tollgate Admin API, for Python 3.8 or later, without dependencies.

Generated from server/schema/openapi.json by `npm run schema`. Do not edit.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any, Dict, Iterator, List, Literal, Optional, TypedDict, Union

RETRIES = 2


class TollgateError(Exception):
    """An error of the service. `code` is stable, the text is for people."""

    def __init__(self, problem: Dict[str, Any]) -> None:
        super().__init__(problem["detail"])
        self.code: str = problem["code"]
        self.status: int = problem["status"]
        self.field: Optional[str] = problem.get("field")
        self.request_id: str = problem["requestId"]
        self.retry_after: Optional[int] = problem.get("retryAfter")


class _Omitted:
    pass


OMITTED = _Omitted()
"""Default of optional arguments. None is sent, as null."""

AutoRecharge = TypedDict(
    "AutoRecharge",
    {
        "below": "float",
        "declines": "int",
        "featureId": "str",
        "maxSpendPerPeriod": "Optional[float]",
        "priceId": "str",
        "reason": "Optional[str]",
        "spent": "float",
        "state": "AutoRechargeState",
        "upTo": "float",
        "userId": "str",
        "waitsUntil": "Optional[str]",
    },
)
AutoRechargeInput = TypedDict(
    "AutoRechargeInput",
    {
        "below": "int",
        "featureId": "str",
        "maxSpendPerPeriod": "Optional[int]",
        "priceId": "str",
        "upTo": "int",
        "userId": "str",
    },
    total=False,
)
AutoRechargeState = Literal["CHARGING", "OFF", "ON", "WAITING"]
CanUseFeatureData = TypedDict(
    "CanUseFeatureData",
    {
        "access": "bool",
        "consumption": "Optional[Consumption]",
        "deniedBy": "Optional[str]",
        "featureId": "str",
        "reason": "str",
        "reasonCode": "ReasonCode",
        "sources": "List[UsageSource]",
    },
)
CanUseFeatureDataSummary = TypedDict(
    "CanUseFeatureDataSummary",
    {
        "access": "bool",
        "consumption": "Optional[Consumption]",
        "deniedBy": "Optional[str]",
        "featureId": "str",
        "reason": "str",
        "reasonCode": "ReasonCode",
    },
)
Cap = TypedDict(
    "Cap",
    {
        "entity": "Optional[str]",
        "featureId": "str",
        "limit": "float",
        "period": "ResetPeriod",
        "reserved": "float",
        "resetsAt": "Optional[str]",
        "used": "float",
        "userId": "str",
    },
)
CapInput = TypedDict(
    "CapInput",
    {
        "entity": "Optional[str]",
        "featureId": "str",
        "limit": "int",
        "period": "ResetPeriod",
        "userId": "str",
    },
    total=False,
)
ChangeTime = Literal["BEST", "NOW", "PERIOD_END"]
Consumption = TypedDict(
    "Consumption",
    {
        "budget": "Optional[float]",
        "overageCap": "Optional[float]",
        "overageEnabled": "bool",
        "remaining": "Optional[float]",
        "reserved": "float",
        "used": "float",
    },
)
Cost = TypedDict(
    "Cost",
    {
        "cost": "int",
        "featureId": "str",
    },
)
CostInput = TypedDict(
    "CostInput",
    {
        "cost": "int",
        "featureId": "str",
    },
)
CreateFeatureInput = TypedDict(
    "CreateFeatureInput",
    {
        "costs": "Optional[List[CostInput]]",
        "id": "str",
        "metadata": "Optional[Dict[str, Any]]",
        "name": "str",
        "thresholds": "Optional[List[int]]",
        "type": "FeatureType",
        "unitLabel": "Optional[str]",
        "unitLabelPlural": "Optional[str]",
    },
    total=False,
)
CreatePackageFeatureInput = TypedDict(
    "CreatePackageFeatureInput",
    {
        "entitlement": "Optional[Entitlement]",
        "id": "str",
    },
    total=False,
)
CreatePackageInput = TypedDict(
    "CreatePackageInput",
    {
        "features": "Optional[List[CreatePackageFeatureInput]]",
        "id": "str",
        "isAddon": "bool",
        "metadata": "Optional[Dict[str, Any]]",
        "name": "str",
    },
    total=False,
)
CreateUsageEventInput = TypedDict(
    "CreateUsageEventInput",
    {
        "action": "Optional[UsageAction]",
        "delta": "int",
        "entities": "Optional[List[str]]",
        "featureId": "str",
        "idempotencyKey": "Optional[str]",
        "revertOf": "Optional[str]",
        "userId": "str",
    },
    total=False,
)
CreateUserInput = TypedDict(
    "CreateUserInput",
    {
        "billingId": "Optional[str]",
        "email": "Optional[str]",
        "id": "str",
        "metadata": "Optional[Dict[str, Any]]",
        "name": "Optional[str]",
    },
    total=False,
)
CreateWebhookEndpointInput = TypedDict(
    "CreateWebhookEndpointInput",
    {
        "description": "Optional[str]",
        "types": "Optional[List[str]]",
        "url": "str",
    },
    total=False,
)
Credit = TypedDict(
    "Credit",
    {
        "amount": "float",
        "bought": "Optional[float]",
        "effectiveAt": "str",
        "expiresAt": "Optional[str]",
        "featureId": "str",
        "id": "str",
        "kind": "CreditKind",
        "priority": "int",
        "provider": "Optional[str]",
        "reason": "Optional[str]",
        "reserved": "float",
        "state": "CreditState",
        "used": "float",
        "userId": "str",
    },
)
CreditInput = TypedDict(
    "CreditInput",
    {
        "amount": "int",
        "effectiveAt": "Optional[str]",
        "expiresAt": "Optional[str]",
        "featureId": "str",
        "id": "Optional[str]",
        "kind": "Optional[CreditKind]",
        "priority": "Optional[int]",
        "reason": "Optional[str]",
        "userId": "str",
    },
    total=False,
)
CreditKind = Literal["PAID", "PROMOTIONAL"]
CreditLink = TypedDict(
    "CreditLink",
    {
        "url": "str",
    },
)
CreditState = Literal["EXPIRED", "LIVE", "SCHEDULED", "SPENT", "VOIDED"]
DeletedUser = TypedDict(
    "DeletedUser",
    {
        "id": "str",
    },
)
DeletedWebhookEndpoint = TypedDict(
    "DeletedWebhookEndpoint",
    {
        "id": "str",
    },
)
Dispute = TypedDict(
    "Dispute",
    {
        "openedAt": "str",
        "reason": "Optional[str]",
        "state": "DisputeState",
    },
)
DisputeState = Literal["CLOSED", "INQUIRY", "LOST", "OPEN", "WON"]
Entitlement = TypedDict(
    "Entitlement",
    {
        "caps": "Optional[List[EntitlementCapInput]]",
        "limit": "Optional[int]",
        "overageCap": "Optional[int]",
        "overageEnabled": "bool",
        "resetPeriod": "ResetPeriod",
    },
    total=False,
)
EntitlementCapInput = TypedDict(
    "EntitlementCapInput",
    {
        "limit": "int",
        "perEntity": "Optional[str]",
        "period": "ResetPeriod",
    },
    total=False,
)
Event = TypedDict(
    "Event",
    {
        "at": "str",
        "cursor": "str",
        "data": "Dict[str, Any]",
        "id": "str",
        "sequence": "int",
        "type": "str",
        "userId": "Optional[str]",
    },
)
Feature = TypedDict(
    "Feature",
    {
        "archived": "bool",
        "costs": "List[Cost]",
        "id": "str",
        "metadata": "Dict[str, Any]",
        "name": "str",
        "packages": "List[PackageSummary]",
        "thresholds": "List[int]",
        "type": "FeatureType",
        "unitLabel": "Optional[str]",
        "unitLabelPlural": "Optional[str]",
    },
)
FeatureChangeSummary = TypedDict(
    "FeatureChangeSummary",
    {
        "after": "CanUseFeatureDataSummary",
        "before": "CanUseFeatureDataSummary",
        "featureId": "str",
        "name": "str",
    },
)
FeatureType = Literal["BINARY", "CONSUMABLE"]
GeneratedUserToken = TypedDict(
    "GeneratedUserToken",
    {
        "token": "str",
    },
)
IfOver = Literal["CAP", "RECORD", "REJECT"]
MigratedFeature = TypedDict(
    "MigratedFeature",
    {
        "featureId": "str",
        "gains": "int",
        "lessOverage": "int",
        "loses": "int",
        "moreOverage": "int",
    },
)
Migration = TypedDict(
    "Migration",
    {
        "at": "str",
        "features": "List[MigratedFeature]",
        "fromVersion": "int",
        "gains": "int",
        "id": "Optional[str]",
        "lessOverage": "int",
        "loses": "int",
        "moreOverage": "int",
        "moved": "int",
        "packageId": "str",
        "status": "MigrationStatus",
        "subscriptions": "int",
        "toVersion": "int",
        "undoneAt": "Optional[str]",
        "when": "ChangeTime",
    },
)
MigrationStatus = Literal["DONE", "DRY_RUN", "SCHEDULED", "UNDONE"]
Override = TypedDict(
    "Override",
    {
        "expiresAt": "Optional[str]",
        "featureId": "str",
        "limit": "Optional[int]",
        "mode": "OverrideMode",
        "overageEnabled": "Optional[bool]",
        "reason": "Optional[str]",
        "resetPeriod": "ResetPeriod",
        "startedAt": "str",
        "userId": "str",
    },
)
OverrideMode = Literal["ADD", "DENY", "GRANT", "REPLACE", "UNLIMITED"]
Package = TypedDict(
    "Package",
    {
        "archived": "bool",
        "features": "List[PackageFeature]",
        "id": "str",
        "isAddon": "bool",
        "metadata": "Dict[str, Any]",
        "name": "str",
        "prices": "List[Price]",
        "status": "PackageStatus",
        "updatedAt": "str",
    },
)
PackageFeature = TypedDict(
    "PackageFeature",
    {
        "id": "str",
        "limit": "Optional[str]",
        "metadata": "Dict[str, Any]",
        "name": "str",
        "type": "FeatureType",
        "unitLabel": "Optional[str]",
        "unitLabelPlural": "Optional[str]",
    },
)
PackageStatus = Literal["DRAFT", "PUBLISHED"]
PackageSubscription = TypedDict(
    "PackageSubscription",
    {
        "cancelAt": "Optional[str]",
        "cancelledAt": "Optional[str]",
        "id": "str",
        "metadata": "Dict[str, Any]",
        "package": "Package",
        "packageVersion": "int",
        "quantity": "int",
        "reversals": "List[Payment]",
        "scheduled": "Optional[ScheduledChange]",
        "startedAt": "str",
        "status": "SubscriptionStatus",
        "trialEndsAt": "Optional[str]",
        "userId": "str",
    },
)
PackageSummary = TypedDict(
    "PackageSummary",
    {
        "archived": "bool",
        "id": "str",
        "isAddon": "bool",
        "metadata": "Dict[str, Any]",
        "name": "str",
        "status": "PackageStatus",
        "updatedAt": "str",
    },
)
Payment = TypedDict(
    "Payment",
    {
        "amount": "int",
        "currency": "str",
        "dispute": "Optional[Dispute]",
        "paidAt": "str",
        "paymentRef": "str",
        "periodEnd": "Optional[str]",
        "periodStart": "Optional[str]",
        "refunded": "int",
        "refundedAt": "Optional[str]",
    },
)
Price = TypedDict(
    "Price",
    {
        "amount": "int",
        "currency": "str",
        "displayAmount": "str",
        "id": "str",
        "interval": "Optional[str]",
        "provider": "str",
    },
)
ReasonCode = Literal["DENIED", "FEATURE_NOT_FOUND", "GRANTED", "LIMIT_EXCEEDED", "NOT_IN_PACKAGE", "NO_SUBSCRIPTION", "OVERAGE", "UNLIMITED", "USER_NOT_FOUND", "WITHIN_BUDGET"]
RecordedUsage = TypedDict(
    "RecordedUsage",
    {
        "consumption": "Optional[Consumption]",
        "reason": "Optional[str]",
        "recorded": "bool",
    },
)
ResentEvents = TypedDict(
    "ResentEvents",
    {
        "more": "bool",
        "resent": "int",
    },
)
Reservation = TypedDict(
    "Reservation",
    {
        "createdAt": "str",
        "expiresAt": "str",
        "featureId": "str",
        "id": "str",
        "late": "bool",
        "reason": "Optional[str]",
        "reserved": "float",
        "settled": "float",
        "state": "ReservationState",
        "userId": "str",
    },
)
ReservationInput = TypedDict(
    "ReservationInput",
    {
        "amount": "int",
        "atLeast": "Optional[int]",
        "entities": "Optional[List[str]]",
        "featureId": "str",
        "id": "Optional[str]",
        "metadata": "Optional[Dict[str, Any]]",
        "ttlSeconds": "Optional[int]",
        "userId": "str",
    },
    total=False,
)
ReservationState = Literal["EXPIRED", "HELD", "RELEASED", "SETTLED"]
ResetPeriod = Literal["DAY", "HOUR", "MONTH", "NEVER", "WEEK", "YEAR"]
ScheduledChange = TypedDict(
    "ScheduledChange",
    {
        "at": "str",
        "packageId": "str",
        "packageName": "str",
    },
)
ShowUsageData = TypedDict(
    "ShowUsageData",
    {
        "current": "Optional[UsagePeriod]",
        "past": "List[UsagePeriod]",
    },
)
SubscriptionChange = TypedDict(
    "SubscriptionChange",
    {
        "at": "str",
        "charge": "Optional[int]",
        "credit": "Optional[int]",
        "currency": "Optional[str]",
        "formula": "str",
        "from": "Package",
        "gains": "List[FeatureChangeSummary]",
        "lessOverage": "List[FeatureChangeSummary]",
        "loses": "List[FeatureChangeSummary]",
        "moreOverage": "List[FeatureChangeSummary]",
        "now": "bool",
        "quotedBy": "str",
        "subscription": "Optional[PackageSubscription]",
        "to": "Package",
    },
)
SubscriptionLink = TypedDict(
    "SubscriptionLink",
    {
        "url": "str",
    },
)
SubscriptionStatus = Literal["ACTIVE", "CANCELLED"]
TestEvent = TypedDict(
    "TestEvent",
    {
        "at": "str",
        "id": "str",
        "type": "str",
    },
)
UpdateFeatureInput = TypedDict(
    "UpdateFeatureInput",
    {
        "costs": "Optional[List[CostInput]]",
        "metadata": "Optional[Dict[str, Any]]",
        "name": "Optional[str]",
        "thresholds": "Optional[List[int]]",
        "unitLabel": "Optional[str]",
        "unitLabelPlural": "Optional[str]",
    },
    total=False,
)
UpdatePackageInput = TypedDict(
    "UpdatePackageInput",
    {
        "metadata": "Optional[Dict[str, Any]]",
    },
    total=False,
)
UpdateUserInput = TypedDict(
    "UpdateUserInput",
    {
        "id": "Optional[str]",
        "metadata": "Optional[Dict[str, Any]]",
        "name": "Optional[str]",
    },
    total=False,
)
UpdateWebhookEndpointInput = TypedDict(
    "UpdateWebhookEndpointInput",
    {
        "description": "Optional[str]",
        "enabled": "Optional[bool]",
        "types": "Optional[List[str]]",
        "url": "Optional[str]",
    },
    total=False,
)
UsageAction = Literal["ADD", "SET"]
UsageBucket = Literal["DAY", "HOUR", "MONTH"]
UsagePeriod = TypedDict(
    "UsagePeriod",
    {
        "consumption": "Consumption",
        "periodEnd": "Optional[str]",
        "periodStart": "str",
    },
)
UsagePoint = TypedDict(
    "UsagePoint",
    {
        "at": "str",
        "used": "float",
    },
)
UsageSeries = TypedDict(
    "UsageSeries",
    {
        "completeFrom": "Optional[str]",
        "points": "List[UsagePoint]",
        "total": "float",
    },
)
UsageSource = TypedDict(
    "UsageSource",
    {
        "cost": "int",
        "expiresAt": "Optional[str]",
        "id": "Optional[str]",
        "kind": "UsageSourceKind",
        "left": "Optional[float]",
        "poolId": "Optional[str]",
    },
)
UsageSourceKind = Literal["CREDIT", "PLAN"]
User = TypedDict(
    "User",
    {
        "billingId": "Optional[str]",
        "email": "Optional[str]",
        "id": "str",
        "metadata": "Dict[str, Any]",
        "name": "Optional[str]",
    },
)
WebhookAttempt = TypedDict(
    "WebhookAttempt",
    {
        "at": "str",
        "body": "str",
        "durationMs": "int",
        "error": "Optional[str]",
        "status": "Optional[int]",
    },
)
WebhookDelivery = TypedDict(
    "WebhookDelivery",
    {
        "attemptCount": "int",
        "attempts": "List[WebhookAttempt]",
        "body": "Optional[str]",
        "createdAt": "str",
        "eventId": "str",
        "id": "str",
        "nextAttemptAt": "Optional[str]",
        "state": "WebhookDeliveryState",
        "type": "str",
    },
)
WebhookDeliveryState = Literal["FAILED", "PENDING", "SUCCEEDED"]
WebhookDisabledReason = Literal["FAILING", "GONE"]
WebhookEndpoint = TypedDict(
    "WebhookEndpoint",
    {
        "createdAt": "str",
        "description": "Optional[str]",
        "disabledAt": "Optional[str]",
        "disabledReason": "Optional[WebhookDisabledReason]",
        "enabled": "bool",
        "failingSince": "Optional[str]",
        "id": "str",
        "previousSecretUntil": "Optional[str]",
        "types": "List[str]",
        "url": "str",
    },
)
WebhookEndpointWithSecret = TypedDict(
    "WebhookEndpointWithSecret",
    {
        "endpoint": "WebhookEndpoint",
        "id": "str",
        "secret": "str",
    },
)


class Tollgate:
    """The operations of the Admin API.

    Calls that change something send an Idempotency-Key: `request_key`, or a generated one. Retries repeat it.
    """

    def __init__(self, url: str, api_key: str, timeout: float = 30) -> None:
        self._url = url.rstrip("/")
        self._api_key = api_key
        self._timeout = timeout

    def can_use_feature(
        self,
        *,
        feature_id: str,
        user_id: str,
        delta: Union[int, _Omitted] = OMITTED,
        entities: Union[Optional[List[str]], _Omitted] = OMITTED,
    ) -> CanUseFeatureData:
        return self._send(
            "POST",
            "/v1/check",
            {},
            {"delta": delta, "entities": entities, "featureId": feature_id, "userId": user_id},
            None,
        )

    def can_use_features(
        self,
        *,
        feature_ids: List[str],
        user_id: str,
    ) -> Dict[str, Any]:
        return self._send(
            "POST",
            "/v1/checks",
            {},
            {"featureIds": feature_ids, "userId": user_id},
            None,
        )

    def record_usage(
        self,
        *,
        delta: int,
        feature_id: str,
        user_id: str,
        action: Union[Optional[UsageAction], _Omitted] = OMITTED,
        entities: Union[Optional[List[str]], _Omitted] = OMITTED,
        idempotency_key: Union[Optional[str], _Omitted] = OMITTED,
        revert_of: Union[Optional[str], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> RecordedUsage:
        return self._send(
            "POST",
            "/v1/usage",
            {},
            {"action": action, "delta": delta, "entities": entities, "featureId": feature_id, "idempotencyKey": idempotency_key, "revertOf": revert_of, "userId": user_id},
            request_key or str(uuid.uuid4()),
        )

    def show_usage(
        self,
        *,
        feature_id: str,
        user_id: str,
    ) -> ShowUsageData:
        return self._send(
            "GET",
            "/v1/usage",
            {"featureId": feature_id, "userId": user_id},
            None,
            None,
        )

    def record_usages(
        self,
        *,
        events: List[CreateUsageEventInput],
        request_key: Optional[str] = None,
    ) -> Dict[str, Any]:
        return self._send(
            "POST",
            "/v1/usage/batch",
            {},
            {"events": events},
            request_key or str(uuid.uuid4()),
        )

    def usage_series(
        self,
        *,
        bucket: UsageBucket,
        feature_id: str,
        from_: str,
        to: str,
        user_id: Union[str, _Omitted] = OMITTED,
    ) -> UsageSeries:
        """Recorded usage of a feature over time, by one user or by all users. Includes everything recorded so far."""
        return self._send(
            "GET",
            "/v1/usage/series",
            {"bucket": bucket, "featureId": feature_id, "from": from_, "to": to, "userId": user_id},
            None,
            None,
        )

    def features(
        self,
        *,
        after: Union[str, _Omitted] = OMITTED,
        first: Union[int, _Omitted] = OMITTED,
    ) -> Dict[str, Any]:
        return self._send(
            "GET",
            "/v1/features",
            {"after": after, "first": first},
            None,
            None,
        )

    def create_feature(
        self,
        *,
        id: str,
        name: str,
        type: FeatureType,
        costs: Union[Optional[List[CostInput]], _Omitted] = OMITTED,
        metadata: Union[Optional[Dict[str, Any]], _Omitted] = OMITTED,
        thresholds: Union[Optional[List[int]], _Omitted] = OMITTED,
        unit_label: Union[Optional[str], _Omitted] = OMITTED,
        unit_label_plural: Union[Optional[str], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> Feature:
        return self._send(
            "POST",
            "/v1/features",
            {},
            {"costs": costs, "id": id, "metadata": metadata, "name": name, "thresholds": thresholds, "type": type, "unitLabel": unit_label, "unitLabelPlural": unit_label_plural},
            request_key or str(uuid.uuid4()),
        )

    def feature(
        self,
        *,
        id: str,
    ) -> Feature:
        return self._send(
            "GET",
            f"/v1/features/{_encoded(id)}",
            {},
            None,
            None,
        )

    def update_feature(
        self,
        *,
        id: str,
        costs: Union[Optional[List[CostInput]], _Omitted] = OMITTED,
        metadata: Union[Optional[Dict[str, Any]], _Omitted] = OMITTED,
        name: Union[Optional[str], _Omitted] = OMITTED,
        thresholds: Union[Optional[List[int]], _Omitted] = OMITTED,
        unit_label: Union[Optional[str], _Omitted] = OMITTED,
        unit_label_plural: Union[Optional[str], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> Feature:
        return self._send(
            "PATCH",
            f"/v1/features/{_encoded(id)}",
            {},
            {"costs": costs, "metadata": metadata, "name": name, "thresholds": thresholds, "unitLabel": unit_label, "unitLabelPlural": unit_label_plural},
            request_key or str(uuid.uuid4()),
        )

    def packages(
        self,
        *,
        after: Union[str, _Omitted] = OMITTED,
        first: Union[int, _Omitted] = OMITTED,
        status: Union[str, _Omitted] = OMITTED,
    ) -> Dict[str, Any]:
        return self._send(
            "GET",
            "/v1/packages",
            {"after": after, "first": first, "status": status},
            None,
            None,
        )

    def create_package(
        self,
        *,
        id: str,
        name: str,
        features: Union[Optional[List[CreatePackageFeatureInput]], _Omitted] = OMITTED,
        is_addon: Union[bool, _Omitted] = OMITTED,
        metadata: Union[Optional[Dict[str, Any]], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> Package:
        return self._send(
            "POST",
            "/v1/packages",
            {},
            {"features": features, "id": id, "isAddon": is_addon, "metadata": metadata, "name": name},
            request_key or str(uuid.uuid4()),
        )

    def package(
        self,
        *,
        id: str,
    ) -> Package:
        return self._send(
            "GET",
            f"/v1/packages/{_encoded(id)}",
            {},
            None,
            None,
        )

    def update_package(
        self,
        *,
        id: str,
        metadata: Union[Optional[Dict[str, Any]], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> Package:
        return self._send(
            "PATCH",
            f"/v1/packages/{_encoded(id)}",
            {},
            {"metadata": metadata},
            request_key or str(uuid.uuid4()),
        )

    def migrate_subscriptions(
        self,
        *,
        id: str,
        from_version: int,
        to_version: int,
        dry_run: Union[bool, _Omitted] = OMITTED,
        when: Union[ChangeTime, _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> Migration:
        """Moves subscriptions from one version of a package to another, immediately or at the end of each subscription's period."""
        return self._send(
            "POST",
            f"/v1/packages/{_encoded(id)}/migrations",
            {},
            {"dryRun": dry_run, "fromVersion": from_version, "toVersion": to_version, "when": when},
            request_key or str(uuid.uuid4()),
        )

    def migration(
        self,
        *,
        id: str,
    ) -> Migration:
        return self._send(
            "GET",
            f"/v1/migrations/{_encoded(id)}",
            {},
            None,
            None,
        )

    def undo_migration(
        self,
        *,
        id: str,
        request_key: Optional[str] = None,
    ) -> Migration:
        """Undoes a migration and restores the previous version of every subscription it moved. Later migrations of the same package must be undone first."""
        return self._send(
            "POST",
            f"/v1/migrations/{_encoded(id)}/undo",
            {},
            {},
            request_key or str(uuid.uuid4()),
        )

    def users(
        self,
        *,
        after: Union[str, _Omitted] = OMITTED,
        first: Union[int, _Omitted] = OMITTED,
    ) -> Dict[str, Any]:
        return self._send(
            "GET",
            "/v1/users",
            {"after": after, "first": first},
            None,
            None,
        )

    def create_user(
        self,
        *,
        id: str,
        billing_id: Union[Optional[str], _Omitted] = OMITTED,
        email: Union[Optional[str], _Omitted] = OMITTED,
        metadata: Union[Optional[Dict[str, Any]], _Omitted] = OMITTED,
        name: Union[Optional[str], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> User:
        return self._send(
            "POST",
            "/v1/users",
            {},
            {"billingId": billing_id, "email": email, "id": id, "metadata": metadata, "name": name},
            request_key or str(uuid.uuid4()),
        )

    def user(
        self,
        *,
        id: str,
    ) -> User:
        return self._send(
            "GET",
            f"/v1/users/{_encoded(id)}",
            {},
            None,
            None,
        )

    def update_user(
        self,
        *,
        id: str,
        new_id: Union[Optional[str], _Omitted] = OMITTED,
        metadata: Union[Optional[Dict[str, Any]], _Omitted] = OMITTED,
        name: Union[Optional[str], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> User:
        return self._send(
            "PATCH",
            f"/v1/users/{_encoded(id)}",
            {},
            {"id": new_id, "metadata": metadata, "name": name},
            request_key or str(uuid.uuid4()),
        )

    def delete_user(
        self,
        *,
        id: str,
        request_key: Optional[str] = None,
    ) -> DeletedUser:
        """Permanently deletes a user and their personal data. Live subscriptions end, and paid ones are first cancelled at the billing provider. Usage totals are kept without a reference to the user."""
        return self._send(
            "DELETE",
            f"/v1/users/{_encoded(id)}",
            {},
            None,
            request_key or str(uuid.uuid4()),
        )

    def export_user(
        self,
        *,
        id: str,
        after: Union[str, _Omitted] = OMITTED,
    ) -> Dict[str, Any]:
        """Exports all data stored about a user, in pages. If `next` is not null, pass it as `after` to get the next page."""
        return self._send(
            "GET",
            f"/v1/users/{_encoded(id)}/export",
            {"after": after},
            None,
            None,
        )

    def change_subscription(
        self,
        *,
        id: str,
        package_id: str,
        dry_run: Union[bool, _Omitted] = OMITTED,
        quantity: Union[Optional[int], _Omitted] = OMITTED,
        when: Union[ChangeTime, _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> SubscriptionChange:
        """Changes a user's base plan or its quantity. A paid subscription is also changed at the billing provider."""
        return self._send(
            "POST",
            f"/v1/users/{_encoded(id)}/change-plan",
            {},
            {"dryRun": dry_run, "packageId": package_id, "quantity": quantity, "when": when},
            request_key or str(uuid.uuid4()),
        )

    def start_trial(
        self,
        *,
        id: str,
        package_id: str,
        again: Union[bool, _Omitted] = OMITTED,
        days: Union[Optional[int], _Omitted] = OMITTED,
        then: Union[Optional[str], _Omitted] = OMITTED,
        until: Union[Optional[str], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> PackageSubscription:
        """Starts a trial of a package. When the trial ends, the user is subscribed to the package `then`, if given."""
        return self._send(
            "POST",
            f"/v1/users/{_encoded(id)}/start-trial",
            {},
            {"again": again, "days": days, "packageId": package_id, "then": then, "until": until},
            request_key or str(uuid.uuid4()),
        )

    def cancel_scheduled_change(
        self,
        *,
        id: str,
        request_key: Optional[str] = None,
    ) -> PackageSubscription:
        """Cancels the scheduled change of a user's base plan, including a package scheduled to follow a trial."""
        return self._send(
            "POST",
            f"/v1/users/{_encoded(id)}/cancel-scheduled-change",
            {},
            {},
            request_key or str(uuid.uuid4()),
        )

    def overrides(
        self,
        *,
        id: str,
        after: Union[str, _Omitted] = OMITTED,
        first: Union[int, _Omitted] = OMITTED,
    ) -> Dict[str, Any]:
        """Overrides of a user that are currently in force."""
        return self._send(
            "GET",
            f"/v1/users/{_encoded(id)}/overrides",
            {"after": after, "first": first},
            None,
            None,
        )

    def set_override(
        self,
        *,
        id: str,
        feature_id: str,
        mode: OverrideMode,
        expires_at: Union[Optional[str], _Omitted] = OMITTED,
        limit: Union[Optional[int], _Omitted] = OMITTED,
        overage_enabled: Union[Optional[bool], _Omitted] = OMITTED,
        reason: Union[Optional[str], _Omitted] = OMITTED,
        reset_period: Union[Optional[ResetPeriod], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> Override:
        """Sets the override for a user and feature, replacing any existing one."""
        return self._send(
            "PUT",
            f"/v1/users/{_encoded(id)}/overrides/{_encoded(feature_id)}",
            {},
            {"expiresAt": expires_at, "limit": limit, "mode": mode, "overageEnabled": overage_enabled, "reason": reason, "resetPeriod": reset_period},
            request_key or str(uuid.uuid4()),
        )

    def remove_override(
        self,
        *,
        id: str,
        feature_id: str,
        request_key: Optional[str] = None,
    ) -> Optional[Override]:
        """Removes an override. Returns the removed override, or null if there was none."""
        return self._send(
            "DELETE",
            f"/v1/users/{_encoded(id)}/overrides/{_encoded(feature_id)}",
            {},
            None,
            request_key or str(uuid.uuid4()),
        )

    def credits(
        self,
        *,
        user_id: str,
        after: Union[str, _Omitted] = OMITTED,
        feature_id: Union[str, _Omitted] = OMITTED,
        first: Union[int, _Omitted] = OMITTED,
        state: Union[CreditState, _Omitted] = OMITTED,
    ) -> Dict[str, Any]:
        """A user's credits, oldest first. At most 500 are returned; pass the last ID as `after` to continue."""
        return self._send(
            "GET",
            "/v1/credits",
            {"after": after, "featureId": feature_id, "first": first, "state": state, "userId": user_id},
            None,
            None,
        )

    def add_credit(
        self,
        *,
        amount: int,
        feature_id: str,
        user_id: str,
        effective_at: Union[Optional[str], _Omitted] = OMITTED,
        expires_at: Union[Optional[str], _Omitted] = OMITTED,
        id: Union[Optional[str], _Omitted] = OMITTED,
        kind: Union[Optional[CreditKind], _Omitted] = OMITTED,
        priority: Union[Optional[int], _Omitted] = OMITTED,
        reason: Union[Optional[str], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> Credit:
        """Adds units of a consumable feature that the user can use in addition to the plan. They first pay for usage of the current period beyond all other sources."""
        return self._send(
            "POST",
            "/v1/credits",
            {},
            {"amount": amount, "effectiveAt": effective_at, "expiresAt": expires_at, "featureId": feature_id, "id": id, "kind": kind, "priority": priority, "reason": reason, "userId": user_id},
            request_key or str(uuid.uuid4()),
        )

    def void_credit(
        self,
        *,
        id: str,
        reason: Union[Optional[str], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> Credit:
        """Voids a credit: its remaining units can no longer be used. Live reservations keep what they hold of it."""
        return self._send(
            "POST",
            f"/v1/credits/{_encoded(id)}/void",
            {},
            {"reason": reason},
            request_key or str(uuid.uuid4()),
        )

    def caps(
        self,
        *,
        user_id: str,
        feature_id: Union[str, _Omitted] = OMITTED,
    ) -> Dict[str, Any]:
        """A user's caps, by feature, entity and period."""
        return self._send(
            "GET",
            "/v1/caps",
            {"featureId": feature_id, "userId": user_id},
            None,
            None,
        )

    def set_cap(
        self,
        *,
        feature_id: str,
        limit: int,
        period: ResetPeriod,
        user_id: str,
        entity: Union[Optional[str], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> Cap:
        """Limits the usage of a feature in windows of the UTC calendar: all usage of the user, or that of one entity. Changing the limit of a cap keeps its count."""
        return self._send(
            "PUT",
            "/v1/caps",
            {},
            {"entity": entity, "featureId": feature_id, "limit": limit, "period": period, "userId": user_id},
            request_key or str(uuid.uuid4()),
        )

    def remove_cap(
        self,
        *,
        feature_id: str,
        period: ResetPeriod,
        user_id: str,
        entity: Union[str, _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> Optional[Cap]:
        """Removes a cap. Returns null if there was none."""
        return self._send(
            "DELETE",
            "/v1/caps",
            {"entity": entity, "featureId": feature_id, "period": period, "userId": user_id},
            None,
            request_key or str(uuid.uuid4()),
        )

    def auto_recharges(
        self,
        *,
        user_id: str,
        feature_id: Union[str, _Omitted] = OMITTED,
    ) -> Dict[str, Any]:
        """Automatic recharges of a user, by feature."""
        return self._send(
            "GET",
            "/v1/auto-recharges",
            {"featureId": feature_id, "userId": user_id},
            None,
            None,
        )

    def set_auto_recharge(
        self,
        *,
        below: int,
        feature_id: str,
        price_id: str,
        up_to: int,
        user_id: str,
        max_spend_per_period: Union[Optional[int], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> AutoRecharge:
        """Sets a rule that buys credits with the saved card of the user when fewer than `below` units are left. If fewer are left now, the card is charged immediately. A rule that is off is turned on."""
        return self._send(
            "PUT",
            "/v1/auto-recharges",
            {},
            {"below": below, "featureId": feature_id, "maxSpendPerPeriod": max_spend_per_period, "priceId": price_id, "upTo": up_to, "userId": user_id},
            request_key or str(uuid.uuid4()),
        )

    def remove_auto_recharge(
        self,
        *,
        feature_id: str,
        user_id: str,
        request_key: Optional[str] = None,
    ) -> Optional[AutoRecharge]:
        """Removes an automatic recharge. A charge in progress is completed. Returns null if there was none."""
        return self._send(
            "DELETE",
            "/v1/auto-recharges",
            {"featureId": feature_id, "userId": user_id},
            None,
            request_key or str(uuid.uuid4()),
        )

    def reservations(
        self,
        *,
        user_id: str,
        after: Union[str, _Omitted] = OMITTED,
        feature_id: Union[str, _Omitted] = OMITTED,
        first: Union[int, _Omitted] = OMITTED,
        state: Union[ReservationState, _Omitted] = OMITTED,
    ) -> Dict[str, Any]:
        """A user's reservations, oldest first. At most 500 are returned; pass the last ID as `after` to continue."""
        return self._send(
            "GET",
            "/v1/reservations",
            {"after": after, "featureId": feature_id, "first": first, "state": state, "userId": user_id},
            None,
            None,
        )

    def reserve_usage(
        self,
        *,
        amount: int,
        feature_id: str,
        user_id: str,
        at_least: Union[Optional[int], _Omitted] = OMITTED,
        entities: Union[Optional[List[str]], _Omitted] = OMITTED,
        id: Union[Optional[str], _Omitted] = OMITTED,
        metadata: Union[Optional[Dict[str, Any]], _Omitted] = OMITTED,
        ttl_seconds: Union[Optional[int], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> Reservation:
        """Holds units of a feature until they are settled or released, or the reservation expires. If too few are left, `reserved` is 0 and `reason` says why."""
        return self._send(
            "POST",
            "/v1/reservations",
            {},
            {"amount": amount, "atLeast": at_least, "entities": entities, "featureId": feature_id, "id": id, "metadata": metadata, "ttlSeconds": ttl_seconds, "userId": user_id},
            request_key or str(uuid.uuid4()),
        )

    def extend_reservation(
        self,
        *,
        id: str,
        add: Union[Optional[int], _Omitted] = OMITTED,
        ttl_seconds: Union[Optional[int], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> Reservation:
        """Postpones the expiry of a live reservation to `ttlSeconds` from now, adds units to it, or both. If the units are not available, nothing is changed and `reason` says why."""
        return self._send(
            "POST",
            f"/v1/reservations/{_encoded(id)}/extend",
            {},
            {"add": add, "ttlSeconds": ttl_seconds},
            request_key or str(uuid.uuid4()),
        )

    def settle_reservation(
        self,
        *,
        id: str,
        amount: int,
        final: Union[bool, _Omitted] = OMITTED,
        if_over: Union[IfOver, _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> Reservation:
        """Records the usage of reserved units. A final settlement returns the rest. Units beyond the reservation, or settled after its expiry, are treated like a call of recordUsage."""
        return self._send(
            "POST",
            f"/v1/reservations/{_encoded(id)}/settle",
            {},
            {"amount": amount, "final": final, "ifOver": if_over},
            request_key or str(uuid.uuid4()),
        )

    def release_reservation(
        self,
        *,
        id: str,
        request_key: Optional[str] = None,
    ) -> Reservation:
        """Releases a reservation and returns its units."""
        return self._send(
            "POST",
            f"/v1/reservations/{_encoded(id)}/release",
            {},
            {},
            request_key or str(uuid.uuid4()),
        )

    def subscriptions(
        self,
        *,
        after: Union[str, _Omitted] = OMITTED,
        first: Union[int, _Omitted] = OMITTED,
        user_id: Union[str, _Omitted] = OMITTED,
    ) -> Dict[str, Any]:
        return self._send(
            "GET",
            "/v1/subscriptions",
            {"after": after, "first": first, "userId": user_id},
            None,
            None,
        )

    def subscribe(
        self,
        *,
        package_ids: List[str],
        user_id: str,
        quantities: Union[Optional[List[int]], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> Dict[str, Any]:
        return self._send(
            "POST",
            "/v1/subscriptions",
            {},
            {"packageIds": package_ids, "quantities": quantities, "userId": user_id},
            request_key or str(uuid.uuid4()),
        )

    def subscription(
        self,
        *,
        id: str,
    ) -> PackageSubscription:
        return self._send(
            "GET",
            f"/v1/subscriptions/{_encoded(id)}",
            {},
            None,
            None,
        )

    def cancel_subscription(
        self,
        *,
        id: str,
        at_period_end: Union[bool, _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> PackageSubscription:
        """Cancels a subscription. Cancelling a base plan also cancels its add-ons. Paid subscriptions are also cancelled at the billing provider."""
        return self._send(
            "POST",
            f"/v1/subscriptions/{_encoded(id)}/cancel",
            {},
            {"atPeriodEnd": at_period_end},
            request_key or str(uuid.uuid4()),
        )

    def keep_subscription(
        self,
        *,
        id: str,
        request_key: Optional[str] = None,
    ) -> PackageSubscription:
        """Reverts a scheduled cancellation, also at the billing provider. A subscription that has ended cannot be restored."""
        return self._send(
            "POST",
            f"/v1/subscriptions/{_encoded(id)}/keep",
            {},
            {},
            request_key or str(uuid.uuid4()),
        )

    def extend_trial(
        self,
        *,
        id: str,
        until: str,
        request_key: Optional[str] = None,
    ) -> PackageSubscription:
        return self._send(
            "POST",
            f"/v1/subscriptions/{_encoded(id)}/extend-trial",
            {},
            {"until": until},
            request_key or str(uuid.uuid4()),
        )

    def events(
        self,
        *,
        after: Union[str, _Omitted] = OMITTED,
        first: Union[int, _Omitted] = OMITTED,
        types: Union[List[str], _Omitted] = OMITTED,
        user_id: Union[str, _Omitted] = OMITTED,
    ) -> Dict[str, Any]:
        """Events of the app, in the order of their publication. Store `next` and pass it as `after` to continue: no event is skipped or returned twice. Without `after`, the result starts with the oldest event that is kept."""
        return self._send(
            "GET",
            "/v1/events",
            {"after": after, "first": first, "types": types, "userId": user_id},
            None,
            None,
        )

    def webhook_endpoints(
        self,
    ) -> Dict[str, Any]:
        """Webhook endpoints of the app, oldest first."""
        return self._send(
            "GET",
            "/v1/webhook-endpoints",
            {},
            None,
            None,
        )

    def create_webhook_endpoint(
        self,
        *,
        url: str,
        description: Union[Optional[str], _Omitted] = OMITTED,
        types: Union[Optional[List[str]], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> WebhookEndpointWithSecret:
        """Creates a webhook endpoint. It receives events from now on, signed as defined by Standard Webhooks."""
        return self._send(
            "POST",
            "/v1/webhook-endpoints",
            {},
            {"description": description, "types": types, "url": url},
            request_key or str(uuid.uuid4()),
        )

    def update_webhook_endpoint(
        self,
        *,
        id: str,
        description: Union[Optional[str], _Omitted] = OMITTED,
        enabled: Union[Optional[bool], _Omitted] = OMITTED,
        types: Union[Optional[List[str]], _Omitted] = OMITTED,
        url: Union[Optional[str], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> WebhookEndpoint:
        """Changes a webhook endpoint, or enables or disables it."""
        return self._send(
            "PATCH",
            f"/v1/webhook-endpoints/{_encoded(id)}",
            {},
            {"description": description, "enabled": enabled, "types": types, "url": url},
            request_key or str(uuid.uuid4()),
        )

    def delete_webhook_endpoint(
        self,
        *,
        id: str,
        request_key: Optional[str] = None,
    ) -> DeletedWebhookEndpoint:
        """Deletes a webhook endpoint and its deliveries."""
        return self._send(
            "DELETE",
            f"/v1/webhook-endpoints/{_encoded(id)}",
            {},
            None,
            request_key or str(uuid.uuid4()),
        )

    def rotate_webhook_secret(
        self,
        *,
        id: str,
        request_key: Optional[str] = None,
    ) -> WebhookEndpointWithSecret:
        """Replaces the signing secret of a webhook endpoint. For 24 hours, deliveries carry the signatures of both secrets."""
        return self._send(
            "POST",
            f"/v1/webhook-endpoints/{_encoded(id)}/rotate-secret",
            {},
            {},
            request_key or str(uuid.uuid4()),
        )

    def send_test_event(
        self,
        *,
        id: str,
        request_key: Optional[str] = None,
    ) -> TestEvent:
        """Sends an event of type `webhook.test` to one webhook endpoint."""
        return self._send(
            "POST",
            f"/v1/webhook-endpoints/{_encoded(id)}/test",
            {},
            {},
            request_key or str(uuid.uuid4()),
        )

    def webhook_deliveries(
        self,
        *,
        id: str,
        after: Union[str, _Omitted] = OMITTED,
        first: Union[int, _Omitted] = OMITTED,
        state: Union[WebhookDeliveryState, _Omitted] = OMITTED,
    ) -> Dict[str, Any]:
        """Deliveries to a webhook endpoint, newest first."""
        return self._send(
            "GET",
            f"/v1/webhook-endpoints/{_encoded(id)}/deliveries",
            {"after": after, "first": first, "state": state},
            None,
            None,
        )

    def resend_events(
        self,
        *,
        id: str,
        event_ids: List[str],
        request_key: Optional[str] = None,
    ) -> ResentEvents:
        """Sends events to a webhook endpoint again, or for the first time if it did not exist when they happened. At most 100 per call."""
        return self._send(
            "POST",
            f"/v1/webhook-endpoints/{_encoded(id)}/resend",
            {},
            {"eventIds": event_ids},
            request_key or str(uuid.uuid4()),
        )

    def resend_failed_events(
        self,
        *,
        id: str,
        from_: Union[Optional[str], _Omitted] = OMITTED,
        to: Union[Optional[str], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> ResentEvents:
        """Sends all events again whose delivery to a webhook endpoint failed, oldest first. At most 10,000 per call."""
        return self._send(
            "POST",
            f"/v1/webhook-endpoints/{_encoded(id)}/resend-failed",
            {},
            {"from": from_, "to": to},
            request_key or str(uuid.uuid4()),
        )

    def generate_subscription_link(
        self,
        *,
        cancel_url: str,
        success_url: str,
        template_id: str,
        user_id: Union[Optional[str], _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> SubscriptionLink:
        return self._send(
            "POST",
            "/v1/payment-links",
            {},
            {"cancelUrl": cancel_url, "successUrl": success_url, "templateId": template_id, "userId": user_id},
            request_key or str(uuid.uuid4()),
        )

    def generate_credit_link(
        self,
        *,
        cancel_url: str,
        price_id: str,
        success_url: str,
        user_id: str,
        quantity: Union[int, _Omitted] = OMITTED,
        save_card: Union[bool, _Omitted] = OMITTED,
        request_key: Optional[str] = None,
    ) -> CreditLink:
        """Generates a payment link for credits. Once the user has paid, the credits are added; do not call addCredit."""
        return self._send(
            "POST",
            "/v1/credit-links",
            {},
            {"cancelUrl": cancel_url, "priceId": price_id, "quantity": quantity, "saveCard": save_card, "successUrl": success_url, "userId": user_id},
            request_key or str(uuid.uuid4()),
        )

    def generate_user_token(
        self,
        *,
        user_id: str,
        request_key: Optional[str] = None,
    ) -> GeneratedUserToken:
        return self._send(
            "POST",
            "/v1/user-tokens",
            {},
            {"userId": user_id},
            request_key or str(uuid.uuid4()),
        )

    def each(self, method: Any, **arguments: Any) -> Iterator[Any]:
        """All items of a list, page by page: `client.each(client.users)`."""
        after: Union[str, _Omitted, None] = OMITTED
        while after is not None:
            page = method(after=after, **arguments)
            yield from page["data"]
            after = page["next"]

    def _send(
        self, method: str, path: str, query: Dict[str, Any], body: Optional[Dict[str, Any]], key: Optional[str]
    ) -> Any:
        given = {name: value for name, value in query.items() if value is not OMITTED}
        text = {name: str(value).lower() if isinstance(value, bool) else value for name, value in given.items()}
        url = self._url + path + ("?" + urllib.parse.urlencode(text, doseq=True) if text else "")
        headers = {"Authorization": "Bearer " + self._api_key}
        data = None
        if body is not None:
            sent = {name: value for name, value in body.items() if value is not OMITTED}
            data = json.dumps(sent).encode()
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers["Idempotency-Key"] = key
        for left in range(RETRIES, -1, -1):
            request = urllib.request.Request(url, data, headers, method=method)
            try:
                with urllib.request.urlopen(request, timeout=self._timeout) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                with error:
                    failure = TollgateError(json.load(error))
                if left == 0 or failure.retry_after is None:
                    raise failure from None
                time.sleep(failure.retry_after)
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                if left == 0:
                    raise


def _encoded(value: str) -> str:
    return urllib.parse.quote(value, safe="")
