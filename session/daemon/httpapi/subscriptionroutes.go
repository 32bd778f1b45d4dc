//go:build unix

package httpapi

import (
	"context"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
)

// SubscriptionPath names a subscription. It is exported because huma fills embedded fields only then.
type SubscriptionPath struct {
	Subscription string `path:"subscription" doc:"its name"`
}

func (s *Server) listSubscriptions(ctx context.Context, _ *struct{}) ([]api.Subscription, error) {
	return s.daemon.Subscriptions().List(ctx)
}

func (s *Server) putSubscription(ctx context.Context, in *struct {
	SubscriptionPath
	Body api.NewSubscription
}) (api.Subscription, error) {
	if in.Body.Hook != "" {
		if err := permitHook(ctx); err != nil {
			return api.Subscription{}, err
		}
	}
	session := ""
	if in.Body.Session != "" {
		e, err := s.reg.Resolve(in.Body.Session)
		if err != nil {
			return api.Subscription{}, err
		}
		session = e.ID()
	}
	return s.daemon.Subscriptions().Put(ctx, in.Subscription, session, in.Body)
}

// permitHook refuses who is no person at our own socket: what a hook runs is run as the person's.
func permitHook(ctx context.Context) error {
	if err := asPerson(ctx, "having a hook run"); err != nil {
		return err
	}
	if a := actor.Of(ctx); a.IsAgent() || a.Token != "" {
		return api.Errorf(api.CodeDenied, "a hook is run as the person's, so it is not for %s to make", a).
			WithHint("make a subscription without a hook, and read it")
	}
	return nil
}

func (s *Server) deleteSubscription(ctx context.Context, in *SubscriptionPath) (none, error) {
	return none{true}, s.daemon.Subscriptions().Remove(ctx, in.Subscription)
}

func (s *Server) readCompletions(ctx context.Context, in *struct {
	SubscriptionPath
	Body api.ReadCompletions
}) (api.Completions, error) {
	return s.daemon.Subscriptions().Read(ctx, in.Subscription, in.Body)
}

func (s *Server) ackCompletions(ctx context.Context, in *struct {
	SubscriptionPath
	Body api.AckCompletions
}) (api.Subscription, error) {
	return s.daemon.Subscriptions().Ack(ctx, in.Subscription, in.Body)
}
