//go:build unix

package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/integrate"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/integrations"
	"github.com/longterm-dev/longterm/session/mcp"
)

// checkTokens looks at those who may come in over TCP.
func checkTokens(_ context.Context, d *Doctor) finding {
	list, err := access.Open(d.Dirs.Tokens()).List()
	if err != nil {
		return fail("put it right: until then nobody comes in with a token", "%v", err)
	}
	var expired []string
	for i := range list {
		if t := &list[i]; !t.Expires.IsZero() && time.Now().After(t.Expires) {
			expired = append(expired, t.Name)
		}
	}
	if len(expired) > 0 {
		names := output.Printable(strings.Join(expired, " "))
		return warn("`longterm token revoke "+names+"`, and make others where they are needed", "expired: %s", names)
	}
	return ok("%s", output.HowMany(len(list), "token", "tokens"))
}

// checkHTTP says where the API is served over TCP.
func checkHTTP(ctx context.Context, d *Doctor) finding {
	st, err := d.Quiet.Status(ctx)
	switch {
	case err != nil:
		return ok("no daemon to ask")
	case st.HTTP == "":
		return ok("the API is on the daemon's socket only")
	case strings.HasPrefix(st.HTTP, "none: "):
		return fail("choose another address: `longterm config set http.listen HOST:PORT`", "the API is not served over TCP: %s", strings.TrimPrefix(st.HTTP, "none: "))
	case !access.Loopback(st.HTTP):
		return warn("have a proxy with TLS in front of it, or listen on 127.0.0.1", "the API is served at %s, where tokens can be read on their way", st.HTTP)
	}
	return ok("the API is served at %s", st.HTTP)
}

// checkMCP looks at what the server of the Model Context Protocol keeps. It makes nothing.
func checkMCP(_ context.Context, d *Doctor) finding {
	key := filepath.Join(d.Dirs.State, "mcp.key")
	switch st, err := os.Stat(key); {
	case errors.Is(err, fs.ErrNotExist):
		return ok("`longterm mcp` was not used yet")
	case err != nil:
		return fail("", "%v", err)
	case st.Size() != mcp.KeySize:
		return fail("remove it: another one is made", "%s is no key (%d bytes)", key, st.Size())
	}
	for _, name := range []string{"mcp.key", "mcp.token"} {
		path := filepath.Join(d.Dirs.State, name)
		if st, err := os.Stat(path); err == nil && st.Mode().Perm()&0o077 != 0 {
			return fail("chmod 600 "+path, "%s can be read by others (mode %04o)", path, st.Mode().Perm())
		}
	}
	return ok("`longterm mcp` has its key")
}

// checkIntegrations looks which agents' programs longterm was put into, and whether all of it is still there.
func checkIntegrations(context.Context, *Doctor) finding {
	here, err := integrate.Here()
	if err != nil {
		return warn("", "%v", err)
	}
	changes := func(p *integrations.Program, undo bool) (bool, error) {
		all, err := p.Plan(here, undo)
		return slices.ContainsFunc(all, func(c integrations.Change) bool { return c.Changed() }), err
	}
	var whole, part, broken []string
	for _, name := range integrations.Names() {
		p, err := integrations.For(name)
		if err != nil {
			continue
		}
		there, err := changes(p, true)
		missing := false
		if err == nil && there {
			missing, err = changes(p, false)
		}
		switch {
		case err != nil:
			broken = append(broken, name+": "+err.Error())
		case missing:
			part = append(part, name)
		case there:
			whole = append(whole, name)
		}
	}
	switch {
	case len(broken) > 0:
		return warn("put the file right, then `longterm agent install` again", "%s", strings.Join(broken, "; "))
	case len(part) > 0:
		return warn("`longterm agent install "+part[0]+"` shows what it would add", "not as this version puts it in: %s", strings.Join(part, ", "))
	case len(whole) > 0:
		return ok("in %s", strings.Join(whole, ", "))
	}
	return ok("in no agent's program; `longterm agent install` puts it into one")
}
