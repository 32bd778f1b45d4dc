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
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/integrations"
	"github.com/longterm-dev/longterm/session/mcp"
)

// checkTokens checks the tokens for the API over TCP.
func checkTokens(_ context.Context, d *Doctor) finding {
	list, err := apitoken.Open(d.Dirs.Tokens()).List()
	if err != nil {
		return fail("fix the file; until then no token is accepted", "%v", err)
	}
	var expired []string
	for i := range list {
		if t := &list[i]; !t.Expires.IsZero() && time.Now().After(t.Expires) {
			expired = append(expired, t.Name)
		}
	}
	if len(expired) > 0 {
		names := output.Printable(strings.Join(expired, " "))
		return warn("run `longterm token revoke "+names+"`, and create new ones if needed", "expired: %s", names)
	}
	return ok("%s", output.CountNoun(len(list), "token", "tokens"))
}

// checkHTTP checks where the API is served over TCP.
func checkHTTP(ctx context.Context, d *Doctor) finding {
	st, err := d.Quiet.Status(ctx)
	switch {
	case err != nil:
		return ok("daemon not running")
	case st.HTTP == "":
		return ok("API served on the daemon's socket only")
	case strings.HasPrefix(st.HTTP, "none: "):
		return fail("choose another address: `longterm config set http.listen HOST:PORT`", "API not served over TCP: %s", strings.TrimPrefix(st.HTTP, "none: "))
	case !apitoken.Loopback(st.HTTP):
		return warn("use a proxy with TLS, or listen on 127.0.0.1", "API served at %s without TLS: others on the network can read tokens", st.HTTP)
	}
	return ok("API served at %s", st.HTTP)
}

// checkMCP checks the stored state of the MCP server. It creates nothing.
func checkMCP(_ context.Context, d *Doctor) finding {
	key := filepath.Join(d.Dirs.State, "mcp.key")
	switch st, err := os.Stat(key); {
	case errors.Is(err, fs.ErrNotExist):
		return ok("`longterm mcp` not used yet")
	case err != nil:
		return fail("", "%v", err)
	case st.Size() != mcp.KeySize:
		return fail("remove it; a new one is created automatically", "%s: not a key (%d bytes)", key, st.Size())
	}
	for _, name := range []string{"mcp.key", "mcp.token"} {
		path := filepath.Join(d.Dirs.State, name)
		if st, err := os.Stat(path); err == nil && st.Mode().Perm()&0o077 != 0 {
			return fail("chmod 600 "+path, "%s can be read by others (mode %04o)", path, st.Mode().Perm())
		}
	}
	return ok("`longterm mcp` has its key")
}

// checkIntegrations checks the agent programs into which longterm was installed, and whether the installation is
// complete.
func checkIntegrations(context.Context, *Doctor) finding {
	here, err := integrate.LocalPlace()
	if err != nil {
		return warn("", "%v", err)
	}
	changes := func(p *integrations.Program, undo bool) (bool, error) {
		all, err := p.Plan(here, undo)
		return slices.ContainsFunc(all, func(c integrations.Change) bool { return c.HasChanged() }), err
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
		return warn("fix the file, then run `longterm agent install` again", "%s", strings.Join(broken, "; "))
	case len(part) > 0:
		return warn("update it with `longterm agent install "+part[0]+"`", "set up by another version: %s", strings.Join(part, ", "))
	case len(whole) > 0:
		return ok("in %s", strings.Join(whole, ", "))
	}
	return ok("no agent's program set up; see `longterm agent install`")
}
