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

// completionsURI begins the resource of what ended since a subscription last acknowledged. Reading it changes nothing,
// but makes a subscription that is not there; ack= acknowledges first.
const completionsURI = "longterm://completions/"

// parseCompletions reads a URI of completions; ours is false where it is none.
func parseCompletions(uri string) (name string, ack uint64, ours bool, err error) {
	rest, ours := strings.CutPrefix(uri, completionsURI)
	if !ours {
		return "", 0, false, nil
	}
	wrong := func(what string) (string, uint64, bool, error) {
		return "", 0, true, fmt.Errorf("%s is no resource (%s); it is %sNAME or %[3]sNAME?ack=NUMBER", quoted(uri), what, completionsURI)
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

func (s *Server) addCompletions(server *sdk.Server, l Level) {
	server.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: completionsURI + "{name}{?ack}", Name: "completions", MIMEType: "application/json",
		Description: "What ended or wants a person since NAME last acknowledged, also while nobody read; ack=cursor acknowledges",
	}, func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		name, ack, _, err := parseCompletions(req.Params.URI)
		if err != nil {
			return nil, invalidParams("%v", err)
		}
		return s.contents(ctx, req, "application/json", func(ctx context.Context) (string, error) {
			got, err := completions(ctx, s.client(ctx), l, name, api.ReadCompletions{Ack: ack})
			if err != nil {
				return "", err
			}
			b, err := json.Marshal(got)
			return string(b), err
		})
	})
}

// completions reads those of a subscription, which is made where there is none. Who only looks neither makes one nor
// acknowledges: others may read it.
func completions(ctx context.Context, c *client.Client, l Level, name string, in api.ReadCompletions) (api.Completions, error) {
	if in.Ack > 0 && l < Change {
		return api.Completions{}, api.Errorf(api.CodeDenied, "to acknowledge is not allowed here: this client may use what the level %s has", l).
			WithHint("read it without ack")
	}
	got, err := c.Completions(ctx, name, in)
	switch {
	case gone(err) && l < Change:
		return got, api.Errorf(api.CodeDenied, "there is no subscription %s, and to make one is not allowed here: this client may use what the level %s has", quoted(name), l).
			WithHint("a person makes one: `longterm events -s NAME`")
	case gone(err):
		if _, err := c.Subscribe(ctx, name, api.NewSubscription{}); err != nil {
			return got, err
		}
		got, err = c.Completions(ctx, name, in)
	}
	return got, err
}

// tailWait is how long a request for completions waits.
const tailWait = 45 * time.Second

// tail tells of a subscription's completions as they come, those before too, until ctx ends.
func (w *watcher) tail(ctx context.Context, uri, name string) {
	for after := uint64(0); ctx.Err() == nil; {
		got, err := w.c.Completions(ctx, name, api.ReadCompletions{After: after, WaitMS: int(tailWait.Milliseconds())})
		switch {
		case ctx.Err() != nil, gone(err): // somebody removed it
			return
		case err != nil:
			w.log.Debug("completions", "subscription", name, "err", err)
			select {
			case <-ctx.Done():
			case <-time.After(againAfter):
			}
			continue
		case len(got.Completions) > 0:
			w.update(uri)
		}
		after = got.Cursor
	}
}
