//go:build unix

package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// completionsURI starts the resource of completions since a subscription's last acknowledgement. Reading it changes
// nothing, but creates a missing subscription; ack= acknowledges first.
const completionsURI = "longterm://completions/"

// parseCompletions parses a completions URI. ours is false for other URIs.
func parseCompletions(uri string) (name string, ack uint64, ours bool, err error) {
	rest, ours := strings.CutPrefix(uri, completionsURI)
	if !ours {
		return "", 0, false, nil
	}
	wrong := func(what string) (string, uint64, bool, error) {
		return "", 0, true, fmt.Errorf("%s is no resource (%s); it is %sNAME or %[3]sNAME?ack=NUMBER", quoteName(uri), what, completionsURI)
	}
	if len(uri) > maxURI {
		return wrong("it is too long")
	}
	path, query, _ := strings.Cut(rest, "?")
	if name, err = url.PathUnescape(path); err != nil || name == "" || strings.Contains(name, "/") {
		return wrong("its name")
	}
	q, err := url.ParseQuery(query)
	if err != nil {
		return wrong("its query")
	}
	if v := q.Get("ack"); v != "" {
		if ack, err = strconv.ParseUint(v, 10, 64); err != nil {
			return wrong("ack")
		}
	}
	return name, ack, true, nil
}

// addCompletions registers the resource of completions.
func (s *Server) addCompletions(server *sdk.Server, l Level) {
	server.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: completionsURI + "{name}{?ack}", Name: "completions", MIMEType: "application/json",
		Description: "What ended or needs a user since NAME's last acknowledgement, including missed events; ack=cursor acknowledges",
	}, func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		name, ack, _, err := parseCompletions(req.Params.URI)
		if err != nil {
			return nil, invalidParams("%v", err)
		}
		return s.readContents(ctx, req, "application/json", func(ctx context.Context) (string, error) {
			got, err := completions(ctx, s.client(ctx), l, name, api.ReadCompletions{Ack: ack})
			if err != nil {
				return "", err
			}
			b, err := json.Marshal(got)
			return string(b), err
		})
	})
}

// completions reads a subscription's completions and creates it if missing. Read-only clients neither create nor
// acknowledge: the subscription may belong to others.
func completions(ctx context.Context, c *client.Client, l Level, name string, in api.ReadCompletions) (api.Completions, error) {
	if in.Ack > 0 && l < Change {
		return api.Completions{}, api.Errorf(api.CodeDenied, "acknowledging is not allowed (this client has level %s)", l).
			WithHint("read it without ack")
	}
	got, err := c.Completions(ctx, name, in)
	switch {
	case isNotFound(err) && l < Change:
		return got, api.Errorf(api.CodeDenied, "subscription %s not found, and creating one is not allowed (this client has level %s)", quoteName(name), l).
			WithHint("a user makes one: `longterm events -s NAME`")
	case isNotFound(err):
		if _, err := c.Subscribe(ctx, name, api.NewSubscription{}); err != nil {
			return got, err
		}
		got, err = c.Completions(ctx, name, in)
	}
	return got, err
}

// tailWait is how long a request for completions waits.
const tailWait = 45 * time.Second

// tailCompletions notifies of a subscription's completions, past and new, until ctx ends.
func (w *watcher) tailCompletions(ctx context.Context, uri, name string) {
	for after := uint64(0); ctx.Err() == nil; {
		got, err := w.c.Completions(ctx, name, api.ReadCompletions{After: after, WaitMS: int(tailWait.Milliseconds())})
		switch {
		case ctx.Err() != nil, isNotFound(err): // the subscription was removed
			return
		case err != nil:
			w.log.Debug("completions", "subscription", name, "err", err)
			select {
			case <-ctx.Done():
			case <-time.After(reconnectDelay):
			}
			continue
		case len(got.Completions) > 0:
			w.update(uri)
		}
		after = got.Cursor
	}
}
