espalier completion bash | bash -n

# complete WORD...: what the shell would offer for the last word
cat > complete << 'END'
source <(espalier completion bash)
compopt() { :; }
COMP_WORDS=(espalier "$@") COMP_CWORD=$#
_espalier
printf '%s\n' "${COMPREPLY[@]}" | sort
END
touch one.json two.json

bash complete '' | grep inf

bash complete imp

bash complete generate t

bash complete info --

bash complete generate tiers --preset 6

bash complete generate tiers --preset = 3

bash complete info o

bash complete import x.xml --from s

bash complete import x.xml --output t

bash complete help g

# zsh and fish: what the other shells cannot read is found out where they are installed.
for s in zsh fish; do espalier completion $s > script; wc -l < script | awk '{ print ($1 > 100) }'; if command -v $s > /dev/null; then $s -n script && echo fine; else echo fine; fi; done

espalier completion zsh | grep -F -- "--from="

espalier completion fish | grep -F -- "-l from "

if command -v fish > /dev/null; then espalier completion fish > script; XDG_CONFIG_HOME=$PWD HOME=$PWD fish -c 'source script; complete -C "espalier import x --from s"' 2>&1 | grep -o '^simgrid'; else echo simgrid; fi

# algorithms, hosts of the platform in the line, lists, and words that are settings
espalier generate random --nodes 12 -o p.json
for a in '--algo mt' '--algo flat,prune' '--root p1' '--targets p0,p1' '--op = allr' '--op=allr'; do bash complete plan p.json $a; done; bash complete run --mode f

# a host whose name the shell would run is not offered
echo '{"format": "espalier-platform/1", "model": "capacity", "nodes": [{"name": "n$(touch x)"}, {"name": "n2"}], "links": [{"from": "n2", "to": "n$(touch x)", "latency_s": 0, "bandwidth_Bps": 1}]}' > bad.json
bash complete plan bad.json --root n; ls x

espalier completion zsh | grep -A1 -m1 'local word'; espalier completion fish | grep -c -e '-a .(__espalier_hosts)'
