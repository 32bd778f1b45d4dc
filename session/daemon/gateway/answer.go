package gateway

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/store"
)

// The answers.
const (
	answerOnce    = "once"
	answerSession = "session"
	answerAlways  = "always"
	answerReject  = "reject"
)

// Answer answers an approval: written down first, then those who wait are told. One that is not pending any
// more is a conflict, and the error says how it ended.
func (g *Gateway) Answer(ctx context.Context, id string, by actor.Actor, ans api.ApprovalAnswer) (api.Approval, error) {
	ctx = context.WithoutCancel(ctx) // an answer is carried out whole, whether or not who gave it waits for that
	n, err := numberOf(id)
	if err != nil {
		return api.Approval{}, err
	}
	if held(&by) {
		return api.Approval{}, notAgents(by)
	}
	g.mu.Lock()
	e, err := g.queue.claim(n, ans.Answer+", by "+by.String())
	var v api.Approval
	var ask Ask
	var scope []scoped
	if err == nil {
		v, ask, scope = e.view, e.ask, e.scope
	}
	g.mu.Unlock()
	if err != nil {
		return api.Approval{}, g.notOpen(ctx, n, err)
	}
	if ans.Answer != answerReject {
		if j, changed := g.anew(ctx, e); changed && j.Verdict == policy.Deny {
			why := *g.denySince(e, &j)
			return api.Approval{}, why.WithHint("nothing was run, and whoever asked was told")
		}
	}
	made, err := g.carryOut(ctx, &ask, &v, scope, ans)
	if err == nil {
		now := time.Now()
		v.State, v.Ended, v.Answer, v.Feedback, v.By = store.ApprovalAnswered, &now, ans.Answer, ans.Feedback, &by
		err = g.audit(ctx, Record{Ask: ask, Actor: by, Answer: true, Verdict: verdictOf(ans.Answer), Approval: v.ID, Scope: ans.Answer, Note: ans.Feedback})
	}
	switch {
	case ans.Answer == answerReject: // what is not run needs no record first
		err = g.reject(e, &v, err)
	case err == nil:
		err = g.finishAudited(ctx, e, v, by)
	}
	if err != nil {
		g.takeBack(ctx, made)
		g.mu.Lock()
		g.queue.unclaim(e)
		g.mu.Unlock()
		return api.Approval{}, err
	}
	if ans.Answer == answerSession || ans.Answer == answerAlways {
		g.answerOthers(by, ans.Answer, v.ID)
	}
	return v, nil
}

// reject carries a no out, whether or not the audit and the disk take it now.
func (g *Gateway) reject(e *entry, v *api.Approval, audited error) error {
	kept, err := g.saveOver(e, v, nil, true)
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

// held says that rules hold for who asks whatever he asks for: he does not decide about them.
func held(by *actor.Actor) bool { return by.IsAgent() || by.Policy != "" }

func notAgents(by actor.Actor) *api.Error {
	if !by.IsAgent() {
		return api.Errorf(api.CodeDenied, "what runs in a session with rules of its own (%s) does not answer approvals", inLine(by.Policy)).
			WithHint("a person answers them, from another terminal")
	}
	return api.Errorf(api.CodeDenied, "an agent (%s) does not answer approvals", inLine(by.Agent)).
		WithHint("a person answers them, from a terminal without %s that no agent works in", actor.Env)
}

func verdictOf(answer string) policy.Verdict {
	if answer == answerReject {
		return policy.Deny
	}
	return policy.Allow
}

// finishAudited finishes what the audit has as answered. Where that cannot be kept, the disk being full, say, the audit says that
// it does not hold.
func (g *Gateway) finishAudited(ctx context.Context, e *entry, v api.Approval, by actor.Actor) error {
	err := g.finish(e, v)
	if err == nil {
		return nil
	}
	over := g.audit(ctx, Record{Ask: e.ask, Actor: by, Answer: true, Verdict: policy.Deny, Rule: ruleNotKept, Approval: v.ID, Scope: v.Answer, Note: "the answer was not kept, and does not hold"})
	if over != nil {
		g.c.Log.Error("record that an answer does not hold", "approval", v.ID, "err", over)
	}
	return err
}

// ruleNotKept is the rule of an answer that could not be written down.
const ruleNotKept = "not kept"

// finish records an answer, and wakes those who wait for it.
func (g *Gateway) finish(e *entry, v api.Approval) error {
	if _, err := g.saveOver(e, &v, nil, false); err != nil {
		return err
	}
	g.c.Bus.PublishApproval("approval-answered", &v)
	return nil
}

// saveOver records how an entry ended and wakes those who wait: with an error where there is no answer. anyway: it ends whether or
// not it can be recorded now; kept says that it was.
func (g *Gateway) saveOver(e *entry, v *api.Approval, over error, anyway bool) (kept bool, err error) {
	e.saving.Lock()
	defer e.saving.Unlock()
	answered := entry{n: e.n, digest: e.digest, ask: e.ask, view: *v, cut: e.cut, scope: e.scope}
	row, err := answered.row()
	switch {
	case err != nil:
	case anyway:
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		kept = g.unkept.later(ctx, row)
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
	g.queue.close(e, over)
	g.mu.Unlock()
	return kept, nil
}

// carryOut does what an answer means besides this one time: grants, or a rule. It returns the grants it made.
func (g *Gateway) carryOut(ctx context.Context, a *Ask, v *api.Approval, scope []scoped, ans api.ApprovalAnswer) ([]int64, error) {
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
	return nil, api.Errorf(api.CodeInvalid, "%q is no answer", inLine(ans.Answer)).WithHint("answer once, session, always or reject")
}

// answersHint returns a hint with the answers that an approval accepts, without the rejection.
func answersHint(v *api.Approval) string {
	list := v.Answers()
	return "answer " + strings.Join(list[:len(list)-1], " or ")
}

// maxRuleText bounds what is proposed, as the API bounds what is answered.
const maxRuleText = 1024

// unproposed says that no rule is proposed because of signs that would not mean themselves in it, or cannot be read there.
func unproposed(argv []string) bool {
	return slices.ContainsFunc(argv, func(w string) bool { return strings.ContainsAny(w, "*?\n") })
}

// noRule is which rule asks whatever another one allows, and why; empty where somebody may write one that does.
func (g *Gateway) noRule(a *Ask, j *policy.Judgement) string {
	rule, why := j.Rule, j.Why
	if a.unlisted() {
		return "the sandbox's profile asks whatever rules allow: it does not list " + inLine(a.Path) + "; add it to `programs` there"
	}
	if c, known := g.stays(a, j); known {
		if c == nil || unproposed(c.Argv) {
			return ""
		}
		rule, why = c.Rule, c.Why
	}
	if rule == "" || why == "" {
		return "only an answer can allow it"
	}
	return inLine(rule) + " asks whatever else is allowed: " + inLine(why)
}

// stays is the question of an asking, of perhaps several, that rules do not lift: the first for which there is none, but for
// those whose rule somebody has to write himself, or else what is left when each has its own. nil: nothing is left; it is not
// known where commands are not what is asked about.
func (g *Gateway) stays(a *Ask, j *policy.Judgement) (c *policy.Command, known bool) {
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
	if i := slices.IndexFunc(without, func(c *policy.Command) bool { return !unproposed(c.Argv) }); i >= 0 {
		return without[i], true
	}
	if len(without) > 0 {
		return without[0], true
	}
	if len(rules) == 0 || a.Kind != Line && a.Kind != Command && a.Kind != Execution {
		return nil, false
	}
	for _, name := range a.rulesNamed() {
		left, ok := g.with(a, name, rules)
		if !ok {
			return nil, false
		}
		if i := slices.IndexFunc(left.Commands, func(c policy.Command) bool { return c.Verdict != policy.Allow }); i >= 0 {
			return &left.Commands[i], true
		}
	}
	return nil, true
}

// writeRule writes the rule that an answer for always stands for.
func (g *Gateway) writeRule(a *Ask, v *api.Approval, edited string) error {
	rule := strings.TrimSpace(firstOf(edited, v.Rule))
	switch {
	case rule == "":
		if v.NoRule == "" {
			why := "it would take many, or long ones"
			if slices.ContainsFunc(v.Judgement.Commands, func(c api.Judged) bool { return c.Verdict == policy.Ask.String() && unproposed(c.Argv) }) {
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
			idle = g.idle(a, v, rules)
		}
		switch {
		case slices.ContainsFunc(rules, func(r policy.Rule) bool { return r.Decision != policy.Allow }):
			return api.Errorf(api.CodeInvalid, "the rule %q does not allow anything", inLine(rule)).WithHint("name what is to be allowed, as in 'git push'; reject denies this one")
		case edited != "" && !about(rules, judgementOf(&v.Judgement).Commands):
			return api.Errorf(api.CodeInvalid, "the rule %q is about none of the programs of %s", inLine(rule), v.ID).
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
		return api.Errorf(api.CodeInvalid, "the rule %q was not written: %v", inLine(rule), err).WithHint("edit the rule (--rule), or %s", strings.TrimSuffix(answersHint(v), " or always"))
	}
	v.Written = rule
	return nil
}

// roots returns the directories in which a rule that an answer writes will count. A rule about exact words that mean something
// else elsewhere counts in the directory of the request, and below.
func (a *Ask) roots(r *policy.Rule) ([]string, error) {
	switch {
	case !r.Exact || !policy.IsPlaced(append([]string{r.Program}, r.Words...)):
		return nil, nil
	case a.Cwd == "":
		return nil, errors.New("the directory of its words is not known")
	}
	return []string{a.Cwd}, nil
}

// ruleDir returns the directory in which a proposed rule would count, or "" if that is everywhere.
func (a *Ask) ruleDir(text string) string {
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

// about reports whether one of the rules is about a program of one of the commands, as far as those are known.
func about(rules []policy.Rule, commands []policy.Command) bool {
	return len(commands) == 0 || slices.ContainsFunc(rules, func(r policy.Rule) bool {
		return slices.ContainsFunc(commands, func(c policy.Command) bool {
			return len(c.Argv) > 0 && path.Base(c.Argv[0]) == path.Base(r.Program)
		})
	})
}

// grant allows for a session what was asked for.
func (g *Gateway) grant(ctx context.Context, a *Ask, v *api.Approval, scope []scoped) (made []int64, err error) {
	if a.Session == "" {
		return nil, api.Errorf(api.CodeInvalid, "%s has no session yet: its command is not started", v.ID).WithHint("%s", answersHint(v))
	}
	for _, s := range scope {
		gr := store.Grant{
			Session: a.Session, Kind: v.Kind, Rule: s.Rule, Prefix: s.Prefix, Exact: s.Exact, Dir: s.Dir, Commands: s.Commands, Approval: numberOrZero(v.ID), Created: time.Now(),
		}
		if gr.N, err = g.c.Store.AddGrant(ctx, gr); err != nil {
			g.takeBack(ctx, made)
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

// takeBack undoes grants of an answer that did not stand.
func (g *Gateway) takeBack(ctx context.Context, made []int64) {
	for _, n := range made {
		if err := g.revoke(context.WithoutCancel(ctx), n); err != nil {
			g.c.Log.Error("take a grant back", "grant", n, "err", err)
		}
	}
}

// granted is the approval by which a person allowed all of it for the session; empty: none did.
func (g *Gateway) granted(a *Ask, j *policy.Judgement) string {
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

// answerOthers answers what a new grant or rule allows too: nobody is asked for it any more.
func (g *Gateway) answerOthers(by actor.Actor, scope, because string) {
	g.mu.Lock()
	list := g.queue.pending()
	g.mu.Unlock()
	for _, e := range list {
		if e.cut { // what was asked is not all here to be judged
			continue
		}
		j := g.Judge(e.ask)
		if j.Verdict == policy.Deny || j.Verdict == policy.Ask && g.granted(&e.ask, &j) == "" {
			continue
		}
		g.mu.Lock()
		_, err := g.queue.claim(e.n, scope+", by "+by.String())
		v := e.view
		g.mu.Unlock()
		if err != nil {
			continue // somebody else was faster
		}
		now := time.Now()
		v.State, v.Ended, v.Answer, v.By = store.ApprovalAnswered, &now, scope, &by
		v.Written = ""
		err = g.audit(context.Background(), Record{Ask: e.ask, Actor: by, Answer: true, Verdict: policy.Allow, Approval: v.ID, Scope: scope, Note: "by the answer to " + because})
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

// shownBy is what tells how an approval was answered.
const shownBy = "`longterm approvals show %s` tells how it went"

// notOpen is why an approval cannot be answered.
func (g *Gateway) notOpen(ctx context.Context, n int64, err error) error {
	if claimed := (*claimedError)(nil); errors.As(err, &claimed) {
		return api.Errorf(api.CodeAnswered, "%s is being answered just now: %s", idOf(n), claimed.how).WithHint(shownBy, idOf(n))
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
	case e.view.State == store.ApprovalGone:
		return api.Errorf(api.CodeAnswered, "%s is gone: nobody waits for it any more", idOf(n)).WithHint("nothing was run; whoever wants it asks again")
	case e.view.State == store.ApprovalPending:
		return api.Errorf(api.CodeAnswered, "%s is being taken back", idOf(n)).WithHint("nothing was run; whoever wants it asks again")
	}
	who, when := "somebody", ""
	if e.view.By != nil {
		who = e.view.By.String()
	}
	if lifted(&e.view) {
		who = "no person: " + liftedBy
	}
	if e.view.Ended != nil {
		when = " at " + e.view.Ended.Format(time.DateTime)
	}
	return api.Errorf(api.CodeAnswered, "%s was answered already: %s, by %s%s", idOf(n), e.view.Answer, who, when).WithHint(shownBy, idOf(n))
}

// propose is the rule that always would write, or several with semicolons between them; empty: none would allow
// it. Only what does is proposed.
func (g *Gateway) propose(a *Ask, j *policy.Judgement) string {
	if a.Kind != Line && a.Kind != Command && a.Kind != Execution {
		return ""
	}
	proposed := j.Propose()
	if len(proposed) == 0 {
		return ""
	}
	for _, name := range a.rulesNamed() { // whatever asks has to be content
		if j, ok := g.with(a, name, proposed); !ok || j.Verdict != policy.Allow {
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

// rulesNamed name the sets of rules that an asking is judged by; all of them have to allow it.
func (a *Ask) rulesNamed() (names []string) {
	for _, name := range []string{"", a.Kept, a.Policy, a.Actor.Policy} {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// with is what rules would say of an asking if there were more of them.
func (g *Gateway) with(a *Ask, name string, more []policy.Rule) (policy.Judgement, bool) {
	_, src := g.c.Rules.For(a.subject(name))
	rules := slices.Clone(more)
	for i := range src.Rules {
		rules = append(rules, src.Rules[i].Rule)
	}
	e, err := policy.New(policy.Options{Preset: src.Preset, Rules: rules})
	if err != nil {
		return policy.Judgement{}, false
	}
	j := src.Soften(a.judgedBy(e))
	if a.unlisted() && j.Verdict != policy.Deny { // no rule lifts what a sandbox profile says
		j = a.difference()
	}
	return j, true
}

// idle is why one of the rules that were made of an approval is not to be written: with it as much would be asked about as
// without it, the very command that it was made from. nil: each of them lifts something.
func (g *Gateway) idle(a *Ask, v *api.Approval, rules []policy.Rule) *api.Error {
	if a.Kind != Line && a.Kind != Command && a.Kind != Execution || len(v.Judgement.Commands) >= maxShown {
		return nil // what was asked is not all here to be judged
	}
	for i := range rules {
		if !about(rules[i:i+1], judgementOf(&v.Judgement).Commands) {
			continue // one for something else besides, which was not asked
		}
		lifts := false
		why, first := "", ""
		for _, name := range a.rulesNamed() {
			before, ok := g.with(a, name, nil)
			after, well := g.with(a, name, rules[i:i+1])
			if !ok || !well {
				return nil // the rules say what is wrong when it is written
			}
			lifts = lifts || unanswered(&after) < unanswered(&before)
			why, first = firstOf(why, whyStill(&after, rules[i:i+1])), firstOf(first, after.Why)
		}
		if why = firstOf(why, first); lifts || why == "" {
			continue
		}
		hint := fmt.Sprintf("answer once, or edit the rule (--rule); `longterm policy check --agent A --allow '%s' LINE` says what a rule allows", ruleText(&rules[i]))
		if v.Rule != "" {
			hint = fmt.Sprintf("leave out --rule: then it is %q; or answer once", v.Rule)
		}
		return api.Errorf(api.CodeInvalid, "the rule %q would change nothing: %s would still be asked about: %s", inLine(ruleText(&rules[i])), v.ID, inLine(why)).WithHint("%s", inLine(hint))
	}
	return nil
}

// whyStill is why a command is asked about which a rule is about; empty: none is.
func whyStill(j *policy.Judgement, rule []policy.Rule) string {
	why := ""
	for i := range j.Commands {
		c := &j.Commands[i]
		switch {
		case c.Verdict == policy.Allow:
		case strings.Contains(c.Why, rule[0].Name): // it says what the rule lacks
			return c.Why
		case why == "" && about(rule, j.Commands[i:i+1]):
			why = c.Why
		}
	}
	return why
}

// unanswered is how many commands of a judgement are not allowed.
func unanswered(j *policy.Judgement) (n int) {
	for _, c := range j.Commands {
		if c.Verdict != policy.Allow {
			n++
		}
	}
	return n
}

// ruleText is a rule as an answer gives it.
func ruleText(r *policy.Rule) string { return strings.TrimPrefix(r.String(), "allow ") }

// judgementOf is a judgement as it was kept.
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

// Grants lists what was allowed for sessions.
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

// Revoke takes back what was allowed for a session.
func (g *Gateway) Revoke(ctx context.Context, by actor.Actor, id string) error {
	if held(&by) {
		return notAgents(by)
	}
	n, err := strconv.ParseInt(strings.TrimLeft(id, "Gg"), 10, 64)
	if err == nil {
		err = g.revoke(ctx, n)
	} else {
		err = store.ErrNoGrant
	}
	if errors.Is(err, store.ErrNoGrant) {
		return api.Errorf(api.CodeNotFound, "no grant %q", inLine(id)).WithHint("`longterm approvals ls --grants` lists them; they are named G1, G2 …")
	}
	return err
}

// revoke has a grant count no more, whatever the disk says: an error is why the next daemon might find it.
func (g *Gateway) revoke(ctx context.Context, n int64) error {
	g.mu.Lock()
	g.grants = slices.DeleteFunc(g.grants, func(gr store.Grant) bool { return gr.N == n })
	g.mu.Unlock()
	err := g.unkept.takeBack(ctx, n)
	if err == nil || errors.Is(err, store.ErrNoGrant) {
		return err
	}
	return api.Errorf(api.CodeStorage, "the grant counts no more, but that could not be written down so far: %v", err).
		WithHint("it is once the disk has room, if that is before the daemon ends")
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
	delete(g.told, session)
	g.queue.changed(session)
	g.mu.Unlock()
	g.takeBack(ctx, made)
}
