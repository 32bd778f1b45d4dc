package programs

import (
	"slices"
	"strings"
	"sync"
)

// aliases are other names of subcommands, as "program: name=alias,alias …". A program whose list ends with
// "*" also takes any beginning of a name that only one of its subcommands has.
var aliases = []string{
	"git: push=send-pack,http-push", // what push runs
	"npm: install=i,in,ins,inst,insta,instal,isnt,isnta,isntal,isntall,add uninstall=un,unlink,remove,rm,r update=up,upgrade,udpate " +
		"publish= unpublish= run=run-script,rum,urn exec=x test=t,tst start= stop= restart= ci=clean-install,ic,install-clean,isntall-clean " +
		"install-test=it install-ci-test=cit,sit link=ln list=ls,la,ll view=v,info,show config=c,get,set owner=author token= login=add-user,adduser logout= " +
		"dist-tag=dist-tags deprecate= audit= cache= completion= doctor= edit= explain=why explore= fund= help=hlep " +
		"hook= init=create,innit org= outdated= pack= ping= prefix= profile= prune= query= rebuild=rb repo= root= " +
		"search=find,s,se shrinkwrap= star= stars= team= unstar= version=verison whoami= diff= docs=home bugs=issues access= sbom= " +
		"dedupe=ddp pkg= help-search= *",
	"pnpm: install=i add= remove=rm,un,uninstall update=up,upgrade run=run-script test=t,tst exec= dlx= link=ln list=ls,la,ll publish= audit=",
	"bun: install=i add=a remove=rm run= publish= x= update= pm=",
	"cargo: build=b check=c clean= doc=d run=r test=t remove=rm add= publish= install= bench= fmt= clippy= yank= owner= login= update=",
	"svn: commit=ci checkout=co delete=del,remove,rm update=up status=st,stat diff=di copy=cp move=mv,rename,ren list=ls switch=sw " +
		"propset=pset,ps propget=pget,pg propdel=pdel,pd propedit=pedit,pe proplist=plist,pl blame=praise,annotate,ann export= import= merge= revert= cleanup= log= info= lock= unlock=",
	"hg: commit=ci checkout= update=up,co remove=rm rename=mv,move copy=cp status=st push= pull= clone= diff= log=history " +
		"addremove= add= annotate=blame archive= backout= bisect= branch= branches= bundle= cat= config=showconfig export= forget= graft= " +
		"grep= heads= help= identify=id import=patch incoming=in init= manifest= merge= outgoing=out parents= paths= phase= recover= " +
		"resolve= revert= rollback= root= serve= strip= summary=sum tag= tags= tip= unbundle= verify= version= purge=clean histedit= *",
	"brew: install= uninstall=rm,remove list=ls upgrade= update=up search=-S info=abv reinstall= tap= untap= link=ln cleanup= services= doctor=dr",
	"ip: address=a,ad,add,addr,addre,addres link=l,li,lin route=r,ro,rou,rout neighbour=n,ne,nei,neig,neigh,neighb,neighbor rule=ru,rul " +
		"netns=netn tunnel=t,tu maddress=m,ma mroute=mr xfrm=x,xf monitor= vrf= token= tuntap=",
	"nmcli: connection=c,co,con,conn device=d,de,dev,devi general=g,ge,gen networking=n,ne,net radio=r,ra,rad agent=a,ag monitor=m,mo",
	"dnf: install=in,localinstall remove=rm,erase update=up,upgrade downgrade=dg reinstall=rei search=se list=ls info=if " +
		"repolist= group=grp history=hist distro-sync=dsync,distrosync,distribution-synchronization makecache=mc provides=prov,whatprovides clean=",
	"yum: install=localinstall remove=erase update=upgrade",
	"zypper: install=in remove=rm update=up dist-upgrade=dup search=se,s info=if addrepo=ar removerepo=rr refresh=ref patch= repos=lr " +
		"list-updates=lu removelock=rl lock=al clean=cc verify=ve",
	"apt: install= remove= purge= autoremove=auto-remove update= upgrade= full-upgrade=dist-upgrade autoclean=auto-clean list= search= show=",
	"gem: install=i uninstall= update= list= push= yank= owner= build= search= outdated= cleanup= environment= fetch= help= info= sources= *",
	"composer: install=i require=r update=u,upgrade remove=rm,uninstall run-script=run exec= global= create-project= self-update=selfupdate " +
		"dump-autoload=dumpautoload show=info validate= config= init= outdated= search= archive= depends=why prohibits=why-not *",
	"helm: install= uninstall=un,delete,del upgrade= list=ls rollback= pull=fetch dependency=dep,dependencies get= history=hist repo= search= template= lint= status=",
	"tmux: kill-server= kill-session= kill-window=killw kill-pane=killp send-keys=send run-shell=run if-shell=if new-session=new new-window=neww " +
		"split-window=splitw respawn-pane=respawnp respawn-window=respawnw attach-session=attach,at list-sessions=ls list-windows=lsw list-panes=lsp " +
		"capture-pane=capturep pipe-pane=pipep source-file=source set-option=set show-options=show has-session=has detach-client=detach " +
		"switch-client=switchc rename-session=rename rename-window=renamew display-message=display load-buffer=loadb save-buffer=saveb paste-buffer=pasteb *",
	"btrfs: subvolume=s,su,sub,subv filesystem=fi,f,fil,file device=d,de,dev balance=b,ba,bal scrub=sc,scr send= receive= check= rescue= quota= property=pr",
	"conda: install= remove=uninstall update=upgrade create= list= env= clean= run=",
	"bundle: install=i exec=e,ex,exe update=u add= remove= package=pack,cache outdated= info= open= console=c",
}

// aliasList holds the aliases of one program's subcommands.
type aliasList struct {
	full   map[string]string // alias to name
	names  []string
	prefix bool
}

var aliasTable = sync.OnceValue(func() map[string]*aliasList {
	m := map[string]*aliasList{}
	for _, row := range aliases {
		program, rest, _ := strings.Cut(row, ": ")
		l := &aliasList{full: map[string]string{}}
		for entry := range strings.FieldsSeq(rest) {
			if entry == "*" {
				l.prefix = true
				continue
			}
			name, others, _ := strings.Cut(entry, "=")
			l.names = append(l.names, name)
			for other := range strings.SplitSeq(others, ",") {
				if other != "" {
					l.full[other] = name
				}
			}
		}
		m[program] = l
	}
	m["mamba"], m["apt-get"] = m["conda"], m["apt"]
	return m
})

// Full returns the full name of a subcommand given by an alias or, if the program allows it, by its prefix; otherwise
// the word itself.
func Full(program, word string) string {
	l := aliasTable()[program]
	if l == nil || word == "" || slices.Contains(l.names, word) {
		return word
	}
	if name, ok := l.full[word]; ok {
		return name
	}
	if !l.prefix || len(word) > 40 {
		return word
	}
	found := ""
	for _, name := range l.names {
		if strings.HasPrefix(name, word) {
			if found != "" {
				return word // ambiguous: the program rejects it
			}
			found = name
		}
	}
	if found == "" {
		return word
	}
	return found
}

// short are subcommands of "docker container" and "docker image" that have a shorter form.
var short = map[string]string{"container run": "run", "container exec": "exec", "container create": "create", "container rm": "rm",
	"container start": "start", "container stop": "stop", "container kill": "kill", "container restart": "restart", "container cp": "cp",
	"container commit": "commit", "container attach": "attach", "container export": "export", "container pause": "pause",
	"container unpause": "unpause", "container rename": "rename", "container update": "update", "container logs": "logs",
	"container remove": "rm", "image pull": "pull", "image push": "push", "image build": "build", "image rm": "rmi", "image remove": "rmi",
	"image tag": "tag", "image save": "save", "image load": "load", "image import": "import"}

// Short returns the words of a subcommand in their usual form: docker container rm is docker rm, npm i is npm install.
// It does not change its argument.
func Short(program string, words []string) []string {
	if len(words) == 0 {
		return words
	}
	if (program == "docker" || program == "podman" || program == "nerdctl") && len(words) > 1 {
		if one, ok := short[words[0]+" "+words[1]]; ok {
			return append([]string{one}, words[2:]...)
		}
	}
	if full := Full(program, words[0]); full != words[0] {
		return append([]string{full}, words[1:]...)
	}
	return words
}
