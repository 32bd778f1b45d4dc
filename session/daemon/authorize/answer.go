package authorize

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/store"
)

// Answers to an approval, as clients send them.
const (
	answerOnce    = "once"
	answerSession = "session"
	answerAlways  = "always"
	answerReject  = "reject"
)

// Answer records an answer to an approval, then wakes the waiting callers. If the approval is no longer pending, it
// returns a conflict that includes the outcome.
func (g *Gateway) Answer(ctx context.Context, id string, by identity.Actor, ans api.ApprovalAnswer) (api.Approval, error) {
	ctx = context.WithoutCancel(ctx) // an answer is completed even if its caller disconnects
	n, err := numberOf(id)
	if err != nil {
		return api.Approval{}, err
	}
	if err := CheckUser(by); err != nil {
		return api.Approval{}, err
	}
	g.mu.Lock()
	e, err := g.queue.claim(n, ans.Answer+", by "+by.String())
	var v api.Approval
	var ask Request
	var scope []scoped
	if err == nil {
		v, ask, scope = e.view, e.request, e.scope
	}
	g.mu.Unlock()
	if err != nil {
		return api.Approval{}, g.notOpen(ctx, n, err)
	}
	if ans.Answer != answerReject {
		if j, changed := g.reevaluate(ctx, e); changed && j.Verdict == policy.Deny {
			why := *g.denyByNewRules(e, &j)
			return api.Approval{}, why.WithHint("nothing was run; the caller was notified")
		}
	}
	var made []int64
	if err = g.checkDraft(ctx, &v, ans.Answer); err == nil {
		made, err = g.applyAnswer(ctx, &ask, &v, scope, ans)
	}
	if err == nil {
		now := time.Now()
		v.State, v.Ended, v.Answer, v.Feedback, v.By = store.ApprovalAnswered, &now, ans.Answer, ans.Feedback, &by
		err = g.audit(ctx, Record{Request: ask, Actor: by, Answer: true, Verdict: verdictOf(ans.Answer), Approval: v.ID, Scope: ans.Answer, Note: ans.Feedback})
	}
	switch {
	case ans.Answer == answerReject: // what is not run needs no record first
		err = g.reject(e, &v, err)
	case err == nil:
		err = g.finishAudited(ctx, e, v, by)
	}
	if err != nil {
		g.removeGrants(ctx, made)
		g.mu.Lock()
		g.queue.unclaim(e)
		g.mu.Unlock()
		return api.Approval{}, err
	}
	if ans.Answer == answerSession || ans.Answer == answerAlways {
		g.answerOthers(by, ans.Answer, v.ID)
	}
	g.awaitDraft(ctx, ask.ID, &v)
	return v, nil
}

// reject completes a rejection, even if the audit or the disk fails.
func (g *Gateway) reject(e *entry, v *api.Approval, audited error) error {
	kept, err := g.closeApproval(e, v, nil, true)
	if err != nil {
		return err
	}
	if audited != nil {
		g.c.Log.Error("record that an approval was rejected", "approval", v.ID, "err", audited)
	}
	if !kept || audited != nil {
		v.Note = "it is rejected, and written down once the disk has room"
	}
	g.c.Bus.PublishApproval("approval-answered", v)
	return nil
}

// boundByPolicy reports whether a is an agent or runs under a policy. Such an actor may not answer approvals.
func boundByPolicy(by *identity.Actor) bool { return by.IsAgent() || by.Policy != "" }

// CheckUser rejects agents and programs under a policy, which may not answer approvals.
func CheckUser(by identity.Actor) error {
	if boundByPolicy(&by) {
		return notAgents(by)
	}
	return nil
}

// notAgents returns the error for agents, and programs under a policy, that try to answer an approval.
func notAgents(by identity.Actor) *api.Error {
	if !by.IsAgent() {
		return api.Errorf(api.CodeDenied, "programs in a session with a policy (%s) cannot answer approvals", oneLine(by.Policy)).
			WithHint("answer them as a user, from another terminal")
	}
	return api.Errorf(api.CodeDenied, "agents (%s) cannot answer approvals", oneLine(by.Agent)).
		WithHint("answer them as a user, from a terminal without %s and without an agent", identity.Env)
}

func verdictOf(answer string) policy.Verdict {
	if answer == answerReject {
		return policy.Deny
	}
	return policy.Allow
}

// finishAudited finishes an answer that the audit already has. If the answer cannot be stored, for example on a full
// disk, it adds an audit record that revokes it.
func (g *Gateway) finishAudited(ctx context.Context, e *entry, v api.Approval, by identity.Actor) error {
	err := g.finish(e, v)
	if err == nil {
		return nil
	}
	over := g.audit(ctx, Record{Request: e.request, Actor: by, Answer: true, Verdict: policy.Deny, Rule: ruleNotKept, Approval: v.ID, Scope: v.Answer, Note: "answer not stored, and therefore void"})
	if over != nil {
		g.c.Log.Error("audit a void answer", "approval", v.ID, "err", over)
	}
	return err
}

// ruleNotKept is the rule of an answer that could not be written down.
const ruleNotKept = "not kept"

// finish stores an answer and wakes the callers that wait for it.
func (g *Gateway) finish(e *entry, v api.Approval) error {
	if _, err := g.closeApproval(e, &v, nil, false); err != nil {
		return err
	}
	g.c.Bus.PublishApproval("approval-answered", &v)
	return nil
}

// closeApproval stores how an entry ended and wakes the waiting callers, with reason as their error if it has no
// answer. If anyway is set, the entry ends even if it cannot be stored now; kept reports whether it was stored.
func (g *Gateway) closeApproval(e *entry, v *api.Approval, reason error, anyway bool) (kept bool, err error) {
	e.saving.Lock()
	defer e.saving.Unlock()
	answered := entry{n: e.n, digest: e.digest, request: e.request, view: *v, cut: e.cut, scope: e.scope}
	row, err := answered.row()
	switch {
	case err != nil:
	case anyway:
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		kept = g.unpersisted.storeOrRetry(ctx, row)
		cancel()
	default:
		err = g.put(row, "")
		kept = err == nil
	}
	if err != nil {
		return false, err
	}
	g.mu.Lock()
	v.Count = e.view.Count
	e.view = *v
	g.queue.close(e, reason)
	g.mu.Unlock()
	return kept, nil
}

// applyAnswer stores the grants or the rule of an answer that counts beyond this request. It returns the IDs of the new
// grants.
func (g *Gateway) applyAnswer(ctx context.Context, a *Request, v *api.Approval, scope []scoped, ans api.ApprovalAnswer) ([]int64, error) {
	if ans.Rule != "" && ans.Answer != answerAlways {
		return nil, api.Errorf(api.CodeInvalid, "a rule is given with the answer always, not with %s", ans.Answer).WithHint("leave it out, or answer always")
	}
	switch ans.Answer {
	case answerOnce, answerReject:
		return nil, nil
	case answerSession:
		return g.grant(ctx, a, v, scope)
	case answerAlways:
		return nil, g.writeRule(a, v, ans.Rule)
	}
	return nil, api.Errorf(api.CodeInvalid, "%q is no answer", oneLine(ans.Answer)).WithHint("answer once, session, always or reject")
}

// answersHint returns a hint with the answers that an approval accepts, without the rejection.
func answersHint(v *api.Approval) string {
	list := v.Answers()
	return "answer " + strings.Join(list[:len(list)-1], " or ")
}

// maxRuleText bounds proposed rules; the API has the same bound for answers.
const maxRuleText = 1024

// isUnproposed reports whether no rule is proposed because the words have characters that are special or unreadable in
// rules.
func isUnproposed(argv []string) bool {
	return slices.ContainsFunc(argv, func(w string) bool { return strings.ContainsAny(w, "*?\n") })
}

// unliftableRule returns the rule that asks regardless of other rules, and why. It returns "" if the user can write a
// rule that allows the request.
func (g *Gateway) unliftableRule(a *Request, j *policy.Judgement) string {
	rule, why := j.Rule, j.Why
	if a.isUnlisted() {
		return "the sandbox profile requires approval for programs that it does not list (" + oneLine(a.Path) + "); add it to `programs` there"
	}
	if c, known := g.unliftableCommand(a, j); known {
		if c == nil || isUnproposed(c.Argv) {
			return ""
		}
		rule, why = c.Rule, c.Why
	}
	if rule == "" || why == "" {
		return "only an answer can allow it"
	}
	return oneLine(rule) + " always requires approval: " + oneLine(why)
}

// unliftableCommand returns the command that keeps a request from being allowed by rules: the first for which no rule
// is proposed, unless the user can write one, otherwise what remains if every command has its rule. A nil command means
// that rules can allow all of it. known is false if the request was asked about for another reason than its commands.
func (g *Gateway) unliftableCommand(a *Request, j *policy.Judgement) (c *policy.Command, known bool) {
	var without []*policy.Command
	var rules []policy.Rule
	for i := range j.Commands {
		if j.Commands[i].Verdict != policy.Ask {
			continue
		}
		if r := j.Commands[i].Propose(); r.Program != "" {
			rules = append(rules, r)
		} else {
			without = append(without, &j.Commands[i])
		}
	}
	if i := slices.IndexFunc(without, func(c *policy.Command) bool { return !isUnproposed(c.Argv) }); i >= 0 {
		return without[i], true
	}
	if len(without) > 0 {
		return without[0], true
	}
	if len(rules) == 0 || a.Kind != Line && a.Kind != Command && a.Kind != Execution {
		return nil, false
	}
	for _, name := range a.ruleSetNames() {
		left, ok := g.evaluateWith(a, name, rules)
		if !ok {
			return nil, false
		}
		if i := slices.IndexFunc(left.Commands, func(c policy.Command) bool { return c.Verdict != policy.Allow }); i >= 0 {
			return &left.Commands[i], true
		}
	}
	return nil, true
}

// writeRule writes the rule of an "always" answer.
func (g *Gateway) writeRule(a *Request, v *api.Approval, edited string) error {
	rule := strings.TrimSpace(firstNonEmpty(edited, v.Rule))
	switch {
	case rule == "":
		if v.NoRule == "" {
			why := "it would take many, or long ones"
			if slices.ContainsFunc(v.Judgement.Commands, func(c api.Judged) bool { return c.Verdict == policy.Ask.String() && isUnproposed(c.Argv) }) {
				why = "its words have a line break, * or ?"
			}
			return api.Errorf(api.CodeInvalid, "no rule is proposed for %s: %s", v.ID, why).WithHint("%s, or give a rule yourself (--rule)", answersHint(v))
		}
		return api.Errorf(api.CodeInvalid, "no rule can allow %s always: %s", v.ID, v.NoRule).WithHint("%s", answersHint(v))
	case g.c.Author == nil:
		return api.Errorf(api.CodeUnavailable, "rules cannot be written").WithHint("%s", strings.TrimSuffix(answersHint(v), " or always"))
	}
	rules, err := policy.ParseTexts(rule)
	if err == nil {
		idle := (*api.Error)(nil)
		if edited != "" {
			idle = g.checkRuleHelps(a, v, rules)
		}
		switch {
		case slices.ContainsFunc(rules, func(r policy.Rule) bool { return r.Decision != policy.Allow }):
			return api.Errorf(api.CodeInvalid, "the rule %q does not allow anything", oneLine(rule)).WithHint("name the command to allow, for example 'git push'; `reject` denies this one")
		case edited != "" && !mentionsAny(rules, judgementOf(&v.Judgement).Commands):
			return api.Errorf(api.CodeInvalid, "the rule %q is about none of the programs of %s", oneLine(rule), v.ID).
				WithHint("edit the rule that %q shows; rules about other programs are written into policy.toml", "longterm approvals show "+v.ID)
		case idle != nil:
			return idle
		}
	}
	for i := 0; i < len(rules) && err == nil; i++ {
		if rules[i].Roots, err = a.roots(&rules[i]); err == nil {
			err = g.c.Author.Append(rules[i], fmt.Sprintf("answer to approval %s", v.ID))
		}
	}
	if err != nil {
		var e *api.Error
		if errors.As(err, &e) {
			return e
		}
		return api.Errorf(api.CodeInvalid, "the rule %q was not written: %v", oneLine(rule), err).WithHint("edit the rule (--rule), or %s", strings.TrimSuffix(answersHint(v), " or always"))
	}
	v.Written = rule
	return nil
}

// roots returns the directories in which a rule that an answer writes will count. A rule about exact words that mean something
// else elsewhere counts in the directory of the request, and below.
func (a *Request) roots(r *policy.Rule) ([]string, error) {
	switch {
	case !r.Exact || !policy.DependsOnDir(append([]string{r.Program}, r.Words...)):
		return nil, nil
	case a.Cwd == "":
		return nil, errors.New("the working directory of the command is unknown")
	}
	return []string{a.Cwd}, nil
}

// ruleDir returns the directory in which a proposed rule would count, or "" if that is everywhere.
func (a *Request) ruleDir(text string) string {
	rules, err := policy.ParseTexts(text)
	if err != nil {
		return ""
	}
	for i := range rules {
		if dirs, err := a.roots(&rules[i]); err == nil && len(dirs) > 0 {
			return dirs[0]
		}
	}
	return ""
}

// mentionsAny reports whether a rule names the program of a command; unknown commands do not match.
func mentionsAny(rules []policy.Rule, commands []policy.Command) bool {
	return len(commands) == 0 || slices.ContainsFunc(rules, func(r policy.Rule) bool {
		return slices.ContainsFunc(commands, func(c policy.Command) bool {
			return len(c.Argv) > 0 && path.Base(c.Argv[0]) == path.Base(r.Program)
		})
	})
}

// grant allows the request for the rest of its session.
func (g *Gateway) grant(ctx context.Context, a *Request, v *api.Approval, scope []scoped) (made []int64, err error) {
	if v.Draft != nil {
		return nil, api.Errorf(api.CodeInvalid, "%s ran in a draft, and its changes can only be committed or discarded", v.ID).WithHint("%s", answersHint(v))
	}
	if a.Session == "" {
		return nil, api.Errorf(api.CodeInvalid, "%s has no session yet: its command is not started", v.ID).WithHint("%s", answersHint(v))
	}
	for _, s := range scope {
		gr := store.Grant{
			Session: a.Session, Kind: v.Kind, Rule: s.Rule, Prefix: s.Prefix, Exact: s.Exact, Dir: s.Dir, Commands: s.Commands, Approval: numberOrZero(v.ID), Created: time.Now(),
		}
		if gr.N, err = g.c.Store.AddGrant(ctx, gr); err != nil {
			g.removeGrants(ctx, made)
			return nil, storageError(err)
		}
		made = append(made, gr.N)
		g.mu.Lock()
		g.grants = append(g.grants, gr)
		g.mu.Unlock()
	}
	return made, nil
}

func numberOrZero(id string) int64 {
	n, _ := numberOf(id)
	return n
}

// removeGrants removes the grants of an answer that failed.
func (g *Gateway) removeGrants(ctx context.Context, made []int64) {
	for _, n := range made {
		if err := g.revoke(context.WithoutCancel(ctx), n); err != nil {
			g.c.Log.Error("take a grant back", "grant", n, "err", err)
		}
	}
}

// grantedBy returns the approval by which a user allowed all of the request for its session, or "".
func (g *Gateway) grantedBy(a *Request, j *policy.Judgement) string {
	if a.Session == "" {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	id := ""
	for _, need := range scopeOf(a, j) {
		i := slices.IndexFunc(g.grants, func(gr store.Grant) bool { return gr.Session == a.Session && allows(&gr, &need) })
		if i < 0 {
			return ""
		}
		id = idOf(g.grants[i].Approval)
	}
	return id
}

// answerOthers answers the pending approvals that a new grant or rule allows too.
func (g *Gateway) answerOthers(by identity.Actor, scope, because string) {
	g.mu.Lock()
	list := g.queue.pending()
	g.mu.Unlock()
	for _, e := range list {
		if e.cut { // the entry is truncated, so it cannot be evaluated
			continue
		}
		j := g.Judge(e.request)
		if j.Verdict == policy.Deny || j.Verdict == policy.Ask && g.grantedBy(&e.request, &j) == "" {
			continue
		}
		g.mu.Lock()
		_, err := g.queue.claim(e.n, scope+", by "+by.String())
		v := e.view
		g.mu.Unlock()
		if err != nil {
			continue // already answered
		}
		now := time.Now()
		v.State, v.Ended, v.Answer, v.By = store.ApprovalAnswered, &now, scope, &by
		v.Written = ""
		err = g.audit(context.Background(), Record{Request: e.request, Actor: by, Answer: true, Verdict: policy.Allow, Approval: v.ID, Scope: scope, Note: "by the answer to " + because})
		if err == nil {
			err = g.finishAudited(context.Background(), e, v, by)
		}
		if err != nil {
			g.c.Log.Error("answer an approval that another answer allows", "approval", v.ID, "err", err)
			g.mu.Lock()
			g.queue.unclaim(e)
			g.mu.Unlock()
		}
	}
}

// outcomeHint is the hint on how to read the outcome of an approval.
const outcomeHint = "`longterm approvals show %s` shows the outcome"

// notOpen returns the error for an approval that cannot be answered.
func (g *Gateway) notOpen(ctx context.Context, n int64, err error) error {
	if claimed := (*claimedError)(nil); errors.As(err, &claimed) {
		return api.Errorf(api.CodeAnswered, "%s is being answered just now: %s", idOf(n), claimed.how).WithHint(outcomeHint, idOf(n))
	}
	r, err := g.c.Store.Approval(ctx, n)
	if errors.Is(err, store.ErrNoApproval) {
		return api.Errorf(api.CodeNotFound, "no approval %s", idOf(n)).WithHint("`longterm approvals` lists those that are pending, `--all` all of them")
	}
	if err != nil {
		return storageError(err)
	}
	e, err := entryOf(&r)
	switch {
	case err != nil:
		return storageError(err)
	case e.view.State == store.ApprovalWithdrawn:
		return api.Errorf(api.CodeAnswered, "%s is closed (its callers no longer wait)", idOf(n)).WithHint("nothing was run; the caller may request it again")
	case e.view.State == store.ApprovalPending:
		return api.Errorf(api.CodeAnswered, "%s is being withdrawn", idOf(n)).WithHint("nothing was run; the caller may request it again")
	}
	who, when := "an unknown user", ""
	if e.view.By != nil {
		who = e.view.By.String()
	}
	if isAllowedByRules(&e.view) {
		who = "the daemon: " + allowedByRulesFeedback
	}
	if e.view.Ended != nil {
		when = " at " + e.view.Ended.Format(time.DateTime)
	}
	return api.Errorf(api.CodeAnswered, "%s was answered already: %s, by %s%s", idOf(n), e.view.Answer, who, when).WithHint(outcomeHint, idOf(n))
}

// propose returns the rule that an "always" answer would write, or several separated by semicolons. It returns ""
// unless these rules allow the request.
func (g *Gateway) propose(a *Request, j *policy.Judgement) string {
	if a.Kind != Line && a.Kind != Command && a.Kind != Execution {
		return ""
	}
	proposed := j.Propose()
	if len(proposed) == 0 {
		return ""
	}
	for _, name := range a.ruleSetNames() { // every rule set in effect has to allow it
		if j, ok := g.evaluateWith(a, name, proposed); !ok || j.Verdict != policy.Allow {
			return ""
		}
	}
	texts := make([]string, len(proposed))
	for i := range proposed {
		texts[i] = ruleText(&proposed[i])
	}
	if text := strings.Join(texts, "; "); len(text) <= maxRuleText {
		return text
	}
	return ""
}

// ruleSetNames returns the names of the rule sets that judge a request; all have to allow it.
func (a *Request) ruleSetNames() (names []string) {
	for _, name := range []string{"", a.Kept, a.Policy, a.Actor.Policy} {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// evaluateWith judges a request with additional rules.
func (g *Gateway) evaluateWith(a *Request, name string, more []policy.Rule) (policy.Judgement, bool) {
	_, src := g.c.Rules.For(a.subject(name))
	rules := slices.Clone(more)
	for i := range src.Rules {
		rules = append(rules, src.Rules[i].Rule)
	}
	e, err := policy.New(policy.Options{Preset: src.Preset, Rules: rules})
	if err != nil {
		return policy.Judgement{}, false
	}
	j := src.WaivePresetApprovals(a.judgeWith(e))
	if a.isUnlisted() && j.Verdict != policy.Deny { // rules cannot override a sandbox profile
		j = a.unlistedJudgement()
	}
	return j, true
}

// checkRuleHelps returns an error if one of the rules made from an approval changes nothing: the same commands would
// need approval with and without it. It returns nil if each rule allows something.
func (g *Gateway) checkRuleHelps(a *Request, v *api.Approval, rules []policy.Rule) *api.Error {
	if a.Kind != Line && a.Kind != Command && a.Kind != Execution || len(v.Judgement.Commands) >= maxShown {
		return nil // the request is truncated, so it cannot be evaluated
	}
	for i := range rules {
		if !mentionsAny(rules[i:i+1], judgementOf(&v.Judgement).Commands) {
			continue // one for something else besides, which was not asked
		}
		lifts := false
		why, first := "", ""
		for _, name := range a.ruleSetNames() {
			before, ok := g.evaluateWith(a, name, nil)
			after, well := g.evaluateWith(a, name, rules[i:i+1])
			if !ok || !well {
				return nil // writing the rule reports the error
			}
			lifts = lifts || countUnanswered(&after) < countUnanswered(&before)
			why, first = firstNonEmpty(why, whyStillAsks(&after, rules[i:i+1])), firstNonEmpty(first, after.Why)
		}
		if why = firstNonEmpty(why, first); lifts || why == "" {
			continue
		}
		hint := fmt.Sprintf("answer once, or edit the rule (--rule); `longterm policy check --agent A --allow %s LINE` shows what a rule allows", shellquote.Word(ruleText(&rules[i])))
		if v.Rule != "" {
			hint = fmt.Sprintf("omit --rule to use %q, or answer once", v.Rule)
		}
		return api.Errorf(api.CodeInvalid, "rule %q would have no effect: %s would still need approval: %s", oneLine(ruleText(&rules[i])), v.ID, oneLine(why)).WithHint("%s", oneLine(hint))
	}
	return nil
}

// whyStillAsks returns why the command that a rule is about would still need approval, or "".
func whyStillAsks(j *policy.Judgement, rule []policy.Rule) string {
	why := ""
	for i := range j.Commands {
		c := &j.Commands[i]
		switch {
		case c.Verdict == policy.Allow:
		case strings.Contains(c.Why, rule[0].Name): // the reason names what the rule lacks
			return c.Why
		case why == "" && mentionsAny(rule, j.Commands[i:i+1]):
			why = c.Why
		}
	}
	return why
}

// countUnanswered returns the number of commands that are not allowed.
func countUnanswered(j *policy.Judgement) (n int) {
	for _, c := range j.Commands {
		if c.Verdict != policy.Allow {
			n++
		}
	}
	return n
}

// ruleText returns a rule in the form that answers use.
func ruleText(r *policy.Rule) string { return strings.TrimPrefix(r.String(), "allow ") }

// judgementOf converts a stored judgement back.
func judgementOf(v *api.Judgement) policy.Judgement {
	j := policy.Judgement{Verdict: verdictNamed(v.Verdict), Rule: v.Rule, Words: v.Words, Why: v.Why, Instead: v.Instead}
	for _, c := range v.Commands {
		j.Commands = append(j.Commands, policy.Command{Argv: c.Argv, Verdict: verdictNamed(c.Verdict), Rule: c.Rule, Why: c.Why})
	}
	if len(v.Commands) >= maxShown { // not all of them
		j.Commands = nil
	}
	return j
}

func verdictNamed(name string) policy.Verdict {
	for _, v := range []policy.Verdict{policy.Allow, policy.Ask} {
		if v.String() == name {
			return v
		}
	}
	return policy.Deny
}

// Grants lists the grants of sessions.
func (g *Gateway) Grants() []api.Grant {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]api.Grant, 0, len(g.grants))
	for _, gr := range g.grants {
		list = append(list, api.Grant{
			ID: "G" + strconv.FormatInt(gr.N, 10), Session: gr.Session, Kind: gr.Kind, Rule: gr.Rule,
			Prefix: strings.Join(gr.Prefix, " "), Exact: gr.Exact, Dir: gr.Dir, Approval: idOf(gr.Approval), Created: gr.Created,
		})
	}
	return list
}

// Revoke revokes a grant.
func (g *Gateway) Revoke(ctx context.Context, by identity.Actor, id string) error {
	if boundByPolicy(&by) {
		return notAgents(by)
	}
	n, err := strconv.ParseInt(strings.TrimLeft(id, "Gg"), 10, 64)
	if err == nil {
		err = g.revoke(ctx, n)
	} else {
		err = store.ErrNoGrant
	}
	if errors.Is(err, store.ErrNoGrant) {
		return api.Errorf(api.CodeNotFound, "no grant %q", oneLine(id)).WithHint("`longterm approvals ls --grants` lists them; they are named G1, G2 …")
	}
	return err
}

// revoke removes a grant, even if the disk does not accept that. An error means that the next daemon might find the
// grant again.
func (g *Gateway) revoke(ctx context.Context, n int64) error {
	g.mu.Lock()
	g.grants = slices.DeleteFunc(g.grants, func(gr store.Grant) bool { return gr.N == n })
	g.mu.Unlock()
	err := g.unpersisted.removeGrant(ctx, n)
	if err == nil || errors.Is(err, store.ErrNoGrant) {
		return err
	}
	return api.Errorf(api.CodeStorage, "grant revoked, but not stored yet: %v", err).
		WithHint("it is stored once the disk has room; if the daemon stops before, revoke it again")
}

// Forget takes back all that was allowed for a session that is removed.
func (g *Gateway) Forget(ctx context.Context, session string) {
	g.mu.Lock()
	var made []int64
	for _, gr := range g.grants {
		if gr.Session == session {
			made = append(made, gr.N)
		}
	}
	delete(g.flights, session)
	delete(g.refused, session)
	delete(g.covers, session)
	delete(g.histories, session)
	g.queue.notifyChange(session)
	g.mu.Unlock()
	g.removeGrants(ctx, made)
}
