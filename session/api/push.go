package api

import "time"

// Push describes notifications by Web Push.
type Push struct {
	Key           string             `json:"key" doc:"public key of this daemon, for PushManager.subscribe (base64url)"`
	Subscriptions []PushSubscription `json:"subscriptions" doc:"of the caller's login; without a login all"`
}

// PushSubscription is a browser that receives entries of the inbox as notifications.
type PushSubscription struct {
	ID      string    `json:"id"`
	Device  string    `json:"device,omitempty" doc:"name that the subscriber gave"`
	Service string    `json:"service" doc:"host of the push service"`
	Login   string    `json:"login,omitempty" doc:"token of the login that subscribed, with which it ends"`
	Created time.Time `json:"created"`
	Problem string    `json:"problem,omitempty" doc:"why the last message was not accepted"`
}

// SubscribePush subscribes a browser. Its fields are those of the browser's PushSubscription.
type SubscribePush struct {
	Endpoint string   `json:"endpoint" minLength:"1" maxLength:"2048" doc:"URL of the push service, https"`
	Keys     PushKeys `json:"keys"`
	Device   string   `json:"device,omitempty" maxLength:"80" doc:"name for lists"`
}

// PushKeys are the keys of a browser's subscription.
type PushKeys struct {
	P256dh string `json:"p256dh" maxLength:"128" doc:"public key (base64url)"`
	Auth   string `json:"auth" maxLength:"64" doc:"authentication secret (base64url)"`
}
