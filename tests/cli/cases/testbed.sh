espalier testbed rates

espalier testbed load

espalier testbed up --name a/b nowhere.json --bad

espalier testbed run --help | head -30
