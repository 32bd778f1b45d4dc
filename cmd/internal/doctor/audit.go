//go:build unix

package doctor

import (
	"context"
	"fmt"
	"os"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
)

// AuditAgainst returns what an instance's audit log is checked against: the newest record according to a running
// daemon, and whether a log must exist.
func AuditAgainst(ctx context.Context, dirs paths.Dirs, quiet *client.Client) audit.Baseline {
	against := audit.Baseline{Expected: AuditIsExpected(dirs)}
	if st, err := quiet.Status(ctx); err == nil { // before the log is read: what is newer does not matter
		against.Written, _ = audit.ParseHead(st.Audit) // another version's may have none
	}
	return against
}

// AuditIsExpected reports whether an audit log must exist: each daemon creates it before its database.
func AuditIsExpected(dirs paths.Dirs) bool {
	_, err := os.Lstat(dirs.Database())
	return err == nil
}

// maxAuditChecked is the largest audit log that doctor verifies, in bytes; more would take longer than a few seconds.
const maxAuditChecked = 256 << 20

// checkAudit checks whether actions are recorded, and whether the log is unchanged.
func checkAudit(ctx context.Context, d *Doctor) finding {
	const look = "run `longterm audit --verify`"
	dir, against := d.Dirs.Audit(), AuditAgainst(ctx, d.Dirs, d.Quiet)
	if !audit.Exists(dir) && !against.Expected {
		return ok("no records yet")
	}
	if f := checkDir(dir); f.Level != "ok" {
		return f
	}
	if size, err := audit.Size(dir); err != nil || size > maxAuditChecked {
		return ok("%d MiB of records, too large for this check; run `longterm audit --verify`", size>>20)
	}
	r, err := audit.Verify(dir, against)
	switch {
	case err != nil:
		return fail("make the log readable", "%v", err)
	case !r.OK:
		return fail(look+" for all findings", "%s", output.Printable(r.Findings[0].What)+andMore(len(r.Findings)-1+r.More))
	case !r.Proven:
		return warn("keep the output of `longterm audit --head` on another machine, for `longterm audit --verify --anchor`",
			"%d records consistent; drop of older ones not proven (only the log itself records it)", r.Records)
	}
	return ok("%d records consistent; to prove them unchanged, keep the output of `longterm audit --head` on another machine", r.Records)
}

// andMore returns ", and N more", or "" if n is 0.
func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d more", n)
}
