// What the charts of all kinds of page have in common. Chart.js stands before it, records.js,
// experiment.js or relay.js behind it, all in one function.
const data = JSON.parse(document.getElementById('chart-data').textContent);
const charts = [];
const longest = Math.max(1, data.longest_s);
// A step of a course is a list with a value for each of data.columns: where each of them is.
const place = Object.fromEntries((data.columns || []).map((name, index) => [name, index]));

// Asked for at each point of some lines, so that it is remembered until all is drawn anew.
const colours = new Map();
const colour = name => {
    if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
    return colours.get(name);
};
const own = index => colour('--s' + index % 8);
const faded = (hex, share) => hex + Math.round(share * 255).toString(16).padStart(2, '0');

const number = value => value >= 100 || Number.isInteger(value)
    ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3);
const latency = us => {
    const [value, unit] = us < 1e3 ? [us, 'µs'] : us < 1e6 ? [us / 1e3, 'ms'] : [us / 1e6, 's'];
    return (value >= 99.95 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))) + ' ' + unit;
};
const elapsed = s => {
    const whole = Math.round(s * 10) / 10;
    if (longest < 180) return whole + ' s';
    const two = n => String(n).padStart(2, '0');
    const seconds = Math.round(whole), hours = Math.floor(seconds / 3600);
    const minutes = two(Math.floor(seconds / 60) % 60);
    if (longest < 10800) return Math.floor(seconds / 60) + ':' + two(seconds % 60);
    return hours + ':' + minutes + (seconds % 60 ? ':' + two(seconds % 60) : '') + ' h';
};

// Steps that people count time in, so that no tick stands at 0:37.
const timeStep = () => [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400]
    .find(step => longest / step <= 12) || Math.ceil(longest / 10 / 86400) * 86400;

// A band behind the chart where the warm-up was, with its name.
const warmup = {
    id: 'warmup',
    beforeDatasetsDraw(chart) {
        if (!(data.warmup_s > 0)) return;
        const { ctx, chartArea: area, scales: { x } } = chart;
        const right = Math.min(x.getPixelForValue(data.warmup_s), area.right);
        ctx.save();
        ctx.fillStyle = faded(colour('--soft'), 0.1);
        ctx.fillRect(area.left, area.top, right - area.left, area.height);
        ctx.fillStyle = colour('--soft');
        ctx.font = '11px ' + Chart.defaults.font.family;
        if (right - area.left > 60) ctx.fillText('warm-up', area.left + 6, area.top + 14);
        ctx.restore();
    }
};

// Series are told apart without colours, too: by the marks on some of their points, of which there
// are about as many whatever the length of the line, fewer beside many lines, and elsewhere on each
// line so that they do not hide one another. A point between two gaps is always marked.
const shapes = ['circle', 'rect', 'triangle', 'rectRot', 'crossRot', 'star', 'rectRounded', 'cross'];
const marks = Math.max(4, Math.min(12, Math.ceil(40 / (data.series || data.variants).length)));
// A line's `marked` says whether it has them: true, false for single points only, null for none. They
// are drawn here, since points whose size is asked for one by one make a long line slow.
const markPoints = {
    id: 'markPoints',
    afterDatasetsDraw(chart) {
        for (const { index: set, data: drawn } of chart.getSortedVisibleDatasetMetas()) {
            const { data: points, marked } = chart.data.datasets[set];
            if (typeof marked !== 'boolean') continue;
            const gap = at => !points[at] || points[at].y === null;
            const every = Math.max(1, Math.floor(points.length / marks));
            const mine = Math.floor(every * ((0.5 + set * 0.38) % 1));
            drawn.forEach((point, at) => {
                const radius = gap(at) ? 0 : gap(at - 1) && gap(at + 1) ? 3 : marked && at % every === mine ? 4 : 0;
                if (radius === 0 || point.active) return;
                const own = point.options;
                point.options = { ...own, radius };
                point.draw(chart.ctx, chart.chartArea);
                point.options = own;
            });
        }
    }
};

const grid = () => ({ color: colour('--line'), borderColor: colour('--line'), tickColor: colour('--line') });
const axis = (title, more = {}) => ({
    type: 'linear', title: { display: true, text: title, color: colour('--soft') },
    grid: grid(), ...more, ticks: { color: colour('--soft'), maxRotation: 0, ...more.ticks }
});
const timeUnit = longest < 180 ? 's' : longest < 10800 ? 'min:s' : 'h:min';
const timeAxis = () => axis('elapsed time (' + timeUnit + ')', {
    min: 0, max: longest, ticks: { stepSize: timeStep(), callback: elapsed, includeBounds: false }
});
// Ticks at 1, 2 and 5; the axis leaves out those for which there is no room.
const latencyTick = us => {
    const first = us / 10 ** Math.floor(Math.log10(us) + 1e-9);
    return [1, 2, 5].some(wanted => Math.abs(first - wanted) < 0.01) ? latency(us) : null;
};
const tooltip = more => ({
    backgroundColor: colour('--ink'), titleColor: colour('--card'), bodyColor: colour('--card'),
    footerColor: colour('--card'), padding: 9, cornerRadius: 6, boxPadding: 4, callbacks: more
});
const legend = shown => ({
    display: shown, align: 'start',
    labels: { color: colour('--ink'), usePointStyle: true, boxWidth: 22, padding: 14, font: { size: 12 } }
});
const options = (scales, callbacks, shown) => ({
    responsive: true, maintainAspectRatio: false, animation: false, normalized: true,
    interaction: { mode: 'nearest', axis: 'x', intersect: false },
    scales, plugins: { legend: legend(shown), tooltip: tooltip(callbacks) }
});
const line = (label, points, stroke, more = {}) => ({
    label, data: points, borderColor: stroke, backgroundColor: faded(stroke, 0.16), borderWidth: 1.8,
    pointRadius: 0, marked: true, pointStyle: 'circle', pointHoverRadius: 5, pointHitRadius: 8, ...more
});

// A point of a tail is [one in how many was slower, latency_us]: the axis stretches what lies
// beyond 99 % as far as what lies before it.
const tail = points => points.map(each => ({ x: each[0], y: each[1], of: each }));
const percentile = oneIn => {
    const nines = Math.max(0, Math.ceil(Math.log10(oneIn) - 1e-9) - 2);
    return String(Number((100 - 100 / oneIn).toFixed(nines + 1)));
};
const percentileTick = oneIn => [1, 2].includes(oneIn) || Math.abs(Math.log10(oneIn) % 1) < 1e-9 ? percentile(oneIn) : null;
const tailChart = (sets, named) => {
    const values = sets.flatMap(one => one.data);
    const slow = values.map(each => each.y).filter(us => us > 0);
    return {
        type: 'line',
        data: { datasets: sets },
        options: options(
            {
                x: axis('percentile (%)', { type: 'logarithmic', min: 1, max: Math.max(10, ...values.map(each => each.x)),
                    ticks: { callback: percentileTick, autoSkip: false } }),
                y: axis('latency (logarithmic)', { type: 'logarithmic', min: Math.min(...slow) / 1.25, max: Math.max(...slow) * 1.25,
                    ticks: { callback: latencyTick, autoSkip: true } })
            },
            {
                title: items => percentile(items[0].raw.x) + ' % took no longer',
                label: item => ' ' + item.dataset.label + ': ' + latency(item.raw.y)
            },
            named)
    };
};

let makers = {};
const draw = (id, make) => {
    const canvas = document.querySelector('#' + id + ' canvas');
    if (canvas) charts.push(new Chart(canvas, make()));
};
const drawAll = () => {
    while (charts.length) charts.pop().destroy();
    colours.clear();
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = 12;
    for (const [id, make] of Object.entries(makers)) draw(id, make);
};
// Draws { id of a figure: function that makes its chart }.
const show = all => {
    makers = all;
    Chart.register(markPoints);
    drawAll();
    // Canvases do not follow a style sheet: they are drawn again for the other scheme and for paper.
    for (const query of ['(prefers-color-scheme: dark)', 'print']) {
        matchMedia(query).addEventListener('change', drawAll);
    }
};
addEventListener('beforeprint', () => {
    for (const details of document.querySelectorAll('details')) details.open = true;
});
